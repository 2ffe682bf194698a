"""Access to protected sites: credentials by URL, HTTP authentication, form logins, proxies; without I/O.

`UrlPrefix` (a URL prefix), `Credential` and `CredentialStore` (user and password for a URL), `challenges_in`
(WWW-Authenticate), `DigestSession` (RFC 7616), `basic_answer` (RFC 7617), `PasswordCipher` (encrypted passwords).
"""
