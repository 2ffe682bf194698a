"""Shares of Windows and Samba (`smb:`), read with smbprotocol over SMB 2 or 3: always signed, encrypted by default."""
