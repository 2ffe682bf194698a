"""Index cards: which media type they have; the module that reads them is imported where they are converted."""

from ultracrawl.content.converters.registry import Converter

CONVERTERS = [Converter("shelf.card_reader", ("application/x-card",), suffixes=("card",))]
