"""Converters for the metadata of images; pixels are not decoded."""
