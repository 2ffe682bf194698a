"""Suggestions are made of the states of every engine."""

from stores.conftest import place

__all__ = ("place",)
