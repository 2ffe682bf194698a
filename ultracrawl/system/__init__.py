"""What the program needs of Python and the operating system: files, plug-ins, the garbage collector, its own exit."""
