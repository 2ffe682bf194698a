"""The sample intranet, crawled by a class of its own."""

from setuptools import setup

setup()
