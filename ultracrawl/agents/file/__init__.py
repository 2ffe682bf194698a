"""Files of local, mounted and remote folders (`type: file`)."""
