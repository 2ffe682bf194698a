"""What authors of plug-ins test them with, under pytest."""
