"""Converters for office documents."""
