"""The kind `mail`: mails on an IMAP server."""
