"""Files of local and mounted folders (`type: file`)."""
