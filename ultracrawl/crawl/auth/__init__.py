"""What a crawl shows to servers that do not let everybody in: log-ins, credentials, cookies, headers, proxies."""
