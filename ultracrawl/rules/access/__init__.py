"""Access to protected sites, as rules: which secret belongs to which URL, and what is said to a server that asks.

`UrlPrefix` (a scheme, host, port and path, and what lies below), `Credential` and `CredentialStore` (which user and
password are for a URL), `challenges_in` (what a server asks for), `DigestSession` (answers of RFC 7616),
`basic_answer`, `PasswordCipher` (encrypted passwords). Nothing here speaks to a server.
"""
