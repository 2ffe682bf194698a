"""Log-ins with a provider of OpenID Connect: those under way, and what the provider says."""
