"""The tables of options follow the docstrings of the options."""

from __future__ import annotations

import option_tables
from option_tables import Option
from pydantic import BaseModel, Field

HEAD = "| option | type | default | effect | example |\n| --- | --- | --- | --- | --- |\n"


class Pace(BaseModel):
    delay: float = 0.5
    """Seconds between requests."""
    jitter: bool = Field(default=False, examples=[True])
    """Vary them."""


def written(page, **effects):
    wanted = [Option(path, effect, f"| `{path}` | new | | {effect} | |") for path, effect in effects.items()]
    return option_tables.with_options(HEAD + page, wanted).removeprefix(HEAD)


def row(effect, path="delay"):
    return f"| `{path}` | number | `1` | {effect} | `delay: 2` |\n"


def test_the_page_has_every_option_as_the_code_describes_it(capsys):
    assert option_tables.main(["--check"]) == 0, capsys.readouterr().out


def test_an_effect_is_the_docstring_and_the_rest_of_its_row_stays():
    assert written(row("Something else."), delay="Seconds between requests.") == row(
        "Seconds between requests."
    )


def test_links_and_further_sentences_of_the_page_stay():
    page = row("Seconds between [requests](pace.md). See [Pace](pace.md).")
    assert written(page, delay="Seconds between requests.") == page


def test_an_option_without_a_row_gets_one_below_the_option_before():
    page = row("One.") + row("Three.", "zeal")
    found = written(page, delay="One.", jitter="Two.", zeal="Three.")
    assert found == row("One.") + "| `jitter` | new | | Two. | |\n" + row("Three.", "zeal")


def test_of_two_options_with_one_name_each_keeps_its_row():
    page = row("One.") + row("Two.")
    wanted = [Option("delay", effect, "") for effect in ("One.", "Two.")]
    assert option_tables.with_options(page, wanted) == page


def test_options_are_read_from_a_section():
    assert [one.row for one in option_tables.options(Pace, "pace")] == [
        "| `pace.delay` | number | `0.5` | Seconds between requests. | `delay: 0.5` |",
        "| `pace.jitter` | true or false | `false` | Vary them. | `jitter: true` |",
    ]
