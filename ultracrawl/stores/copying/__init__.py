"""Copies all stores of a project from one storage engine, or place, to another."""
