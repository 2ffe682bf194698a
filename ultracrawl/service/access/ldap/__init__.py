"""Groups of an LDAP directory: how they are read, and for how long they count."""
