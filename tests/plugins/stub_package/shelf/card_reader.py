"""Reads an index card: its title, then its text, with links behind `see`."""

from ultracrawl.content.converters.conversion import ConversionError, Sink, Source


def convert(source: Source, sink: Sink) -> None:
    """Read a card."""
    title, separator, rest = source.body.decode().partition("\n")
    if not separator:
        raise ConversionError("a card has a title and a text")
    sink.set_title(title)
    for line in rest.splitlines():
        sink.budget.check_time()
        if line.startswith("see "):
            sink.link(line.removeprefix("see "))
        else:
            sink.add(line)
