"""Files of remote file systems: `sftp:` in `paths` of a source of the type `file`."""
