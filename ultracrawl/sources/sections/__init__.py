"""The groups of options that a source or a project is written in, a module each."""
