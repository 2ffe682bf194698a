"""The option groups of sources and projects, one module per group."""
