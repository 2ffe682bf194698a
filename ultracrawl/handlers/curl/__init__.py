"""Download handler for http and https on libcurl."""
