"""Checks of definitions beyond the validation of single options."""
