"""Logging in and out, and the page on which users change their password and end their sessions."""
