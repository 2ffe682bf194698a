"""Access to protected servers: form logins, credentials, cookies, headers, client certificates, proxies."""
