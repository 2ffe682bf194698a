"""The rules in `extract` of a source, which make document attributes."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from ultracrawl.rules.attributes.making import template_mistake
from ultracrawl.sources.header_rules import Expression
from ultracrawl.sources.mistakes import format_names, format_value, mistake
from ultracrawl.sources.patterns import UriPattern
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.selectors import CssSelector, XPath
from ultracrawl.sources.values import as_list, lower_keys

KINDS = ("constant", "template", "regexp", "css", "xpath")


def _check_template(text: str) -> str:
    problem = template_mistake(text)
    if problem:
        raise mistake(
            f"the template {format_value(text)} cannot be used: {problem}",
            "write for example `{host}/{title}`",
        )
    return text


_as_list = partial(as_list, types=(str, dict))


class ExtractRule(Section):
    """One extraction rule; exactly one of constant, template, regexp, css and xpath is set."""

    constant: str | None = Field(default=None, min_length=1, examples=["Sales"])
    """The value itself."""
    template: Annotated[str, AfterValidator(_check_template)] | None = Field(
        default=None, examples=["{host}/{title}"]
    )
    """A text with fields and document attributes in braces. If one is missing, there is no value."""
    regexp: Expression | None = Field(default=None, examples=[r"/products/(\w+)"])
    """Expression (RE2). Each match yields its first group, or all of it."""
    of: str = Field(default="url", examples=["text"])
    """What `regexp` is searched in: a field of the document, or a document attribute."""
    css: CssSelector | None = Field(default=None, examples=[".price"])
    """CSS selector. Each matching element yields its text."""
    attribute: str = Field(default="", examples=["content"])
    """An attribute of the elements selected by `css`, used instead of their text."""
    xpath: XPath | None = Field(default=None, examples=["//span[@id='sku']/text()"])
    """XPath 1.0 expression."""
    default: str = Field(default="", examples=["Documentation"])
    """The value of pages in which `css` or `xpath` finds none."""
    strip: str = Field(default="", examples=[".,;:"])
    """Characters that are removed at both ends of the values of `css` or `xpath`."""
    urls: Annotated[tuple[UriPattern, ...], BeforeValidator(_as_list)] = Field(
        default=(), examples=[["https://shop.example.com/products/"]]
    )
    """URL rules of the pages that the rule applies to. None: all pages."""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, data: Any) -> Any:
        if not isinstance(data, str):
            return data
        if data.startswith("=") and data[1:].strip():
            return {"constant": data[1:].strip()}
        if "{" in data:
            return {"template": data}
        raise mistake(
            f"{format_value(data)} is no rule",
            f"write `={data.strip()}` for a constant, or a group of options",
        )

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(kinds) != 1:
            raise mistake(
                f"a rule has one kind, this one has {len(kinds)}", f"write one of {format_names(KINDS)}"
            )
        if self.attribute and self.css is None:
            raise mistake("`attribute` belongs to `css`", "remove it, or write a CSS selector")
        if (self.default or self.strip) and self.css is None and self.xpath is None:
            raise mistake(
                "`default` and `strip` belong to `css` and `xpath`", "remove them, or write a selector"
            )
        return self


ExtractRules = Annotated[
    Mapping[str, Annotated[tuple[ExtractRule, ...], BeforeValidator(_as_list)]], BeforeValidator(lower_keys)
]
"""Rules by document attribute (case-insensitive); a list with one rule may be written as the rule."""
