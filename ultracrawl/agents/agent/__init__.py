"""Sources listed by a user-written class (`type: agent`): `crawler_agent` is the base class, the rest calls it."""
