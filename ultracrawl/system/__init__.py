"""Helpers over Python and the operating system: files, plug-ins, garbage collection, process exit."""
