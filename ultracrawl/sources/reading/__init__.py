"""From files to definitions: where they lie, how YAML is read, where each key stands, what is wrong with it."""
