"""Conversion in processes of its own: a document that breaks or hangs its converter costs that document and no more.

`ConversionPool` hands `Job`s to `ConversionProcess`es and gives `Converted` or `NotConverted`. `python -m
ultracrawl.conversion.worker` is the program of such a process; `frames` is what the two say to each other.
"""

from ultracrawl.conversion.job import Converted, Job, NotConverted, ProcessLimits
from ultracrawl.conversion.pool import ConversionPool
from ultracrawl.conversion.process import ConversionProcess

__all__ = ["ConversionPool", "ConversionProcess", "Converted", "Job", "NotConverted", "ProcessLimits"]
