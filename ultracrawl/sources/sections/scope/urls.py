"""The `urls` section of a source: canonical form, rewriting, and detection of endless sites."""

from typing import Annotated

from pydantic import AfterValidator, Field, PlainSerializer, PlainValidator, WithJsonSchema

from ultracrawl.rules.boundary.rewriting.rewrite_rules import RewriteRule, RewriteRules
from ultracrawl.rules.boundary.rules import PatternError, RuleError
from ultracrawl.rules.urls.normalise import Step
from ultracrawl.sources.mistakes import format_value, mistake, must_match, unusable_expression
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import RewriterName, one_or_list

_STEP_OF_WORD = {"session": "session_ids", "tracking": "tracking"}
"""Words that are no parameter, and the steps of `normalise` that remove a list of them."""


def _parse_rewrite_rule(value: object) -> RewriteRule:
    if not isinstance(value, str) or not value.strip():
        raise mistake(
            f"{format_value(value)} is not a rewrite rule", "write it in quotes, as `'@pattern@replacement@'`"
        )
    try:
        rule = RewriteRule.parse(value)
        RewriteRules([rule])
    except PatternError as error:
        instead = "write an RE2 expression; it has no look-around and no back-references"
        raise unusable_expression(f"the rewrite rule {format_value(value)}", error, instead) from None
    except RuleError:
        raise mistake(
            f"the rewrite rule {format_value(value)} does not have its separator three times",
            "write `'@pattern@replacement@'` with a separator that occurs in neither part",
        ) from None
    return rule


def _check_parameter(name: str) -> str:
    if (step := _STEP_OF_WORD.get(name)) is not None:
        raise mistake(f"{format_value(name)} is a list of parameters", f"write `normalise: [{step}]`")
    return name


Parameter = Annotated[
    str,
    must_match(
        r"[^\s&=;?#*]+\*?",
        "is not the name of a parameter",
        "write a name, or the beginning of names as `utm_*`",
    ),
    AfterValidator(_check_parameter),
]
RewriteRuleText = Annotated[
    RewriteRule,
    PlainValidator(_parse_rewrite_rule),
    PlainSerializer(lambda rule: [rule.pattern, rule.replacement]),
    WithJsonSchema({"type": "string", "minLength": 3}),
]


class UrlsSection(Section):
    """How URLs of links are canonicalised and rewritten."""

    normalise: Annotated[tuple[Step, ...], one_or_list(Step)] = Field(
        default=(), examples=[["tracking", "trailing_slash"]]
    )
    """[Steps](boundary.md#steps) that give one form to URLs with one content: `https`, `www`, `double_slashes`,
    `index_pages`, `trailing_slash`, `session_ids`, `tracking`, `listing_order`, `empty_query`, `query_order`."""
    remove_params: Annotated[tuple[Parameter, ...], one_or_list(str)] = Field(
        default=(), examples=[["print", "v_*"]]
    )
    """Query parameters to remove, by name or as `name*`."""
    max_uri_recursion: int = Field(default=5, ge=0, le=100, examples=[5])
    """Repetitions of path segments that indicate an endless site; 0 switches the check off."""
    rewrite_rules: Annotated[tuple[RewriteRuleText, ...], one_or_list(RewriteRuleText)] = Field(
        default=(), examples=[["'@/index\\.html$@/@'"]]
    )
    """Rules that rewrite every URL before all other checks, in order."""
    rewriter: RewriterName | None = Field(default=None, examples=["mypackage.MyRewriter"])
    """Your own `ultracrawl.rules.boundary.UrlRewriter` for every link: a dotted path, or the name of a plug-in."""
