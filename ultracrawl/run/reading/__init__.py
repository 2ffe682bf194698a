"""Reading responses: language, permissions of the owner, and conversion in separate processes."""
