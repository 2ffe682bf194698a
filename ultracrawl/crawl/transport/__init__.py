"""Between the crawl and the download handlers: what requests carry, headers of answers, addresses of hosts, libcurl."""
