"""Between crawl and download handlers: request metadata, response headers, host addresses, libcurl."""
