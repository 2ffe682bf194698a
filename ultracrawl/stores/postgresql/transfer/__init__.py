"""Copies all stores of a project out of a schema, and into one; see `TransferEngine`."""
