"""Helpers over Python and the operating system: files, plug-ins, numbers in words, garbage collection, process exit."""
