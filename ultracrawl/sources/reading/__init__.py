"""From files to plain data that know their places: where files lie, how YAML and rule files are read."""
