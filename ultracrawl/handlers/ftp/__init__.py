"""Download handler for ftp on libcurl."""
