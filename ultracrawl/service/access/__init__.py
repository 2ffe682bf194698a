"""Who may do what in the service: roles, tokens, users with their sessions, and limits on guessing.

Tokens and users can be listed without the extra `serve`; passwords and sessions need it.
"""
