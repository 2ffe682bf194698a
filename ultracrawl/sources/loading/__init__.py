"""From files of definitions to a checked project, or what is wrong with it."""
