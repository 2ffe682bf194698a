"""Who may do what in the service: roles, tokens, and who sends a request. Works without the extra `serve`."""
