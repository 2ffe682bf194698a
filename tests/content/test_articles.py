"""Pages of news and blogs: comments, related articles and share lines beside the article are no text."""

import pytest
from support.until import bounded

from ultracrawl.content.html.main_content import MAIN_CONTENT, WHOLE_PAGE, ContentRule
from ultracrawl.content.html.page import parse_html

URL = "https://example.com/2026/herons.html"
STORY = (
    "<p>"
    + "</p><p>".join(f"Heron {n} stands in shallow water and waits for a fish." for n in range(30))
    + "</p>"
)
TEXT = " ".join(f"Heron {n} stands in shallow water and waits for a fish." for n in range(30))
LIST = "<ul><li><a href=/a>Another tale about geese</a><li><a href=/b>Swans of the lake</a></ul>"
SAID = "<div>Ann said: what a tale, I saw one as well!</div>" * 3
NEWS = '<meta property="og:type" content="article">'
POSTING = (
    '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "BlogPosting"}</script>'
)


def text_of(head: str, body: str, rule: ContentRule = MAIN_CONTENT) -> str:
    page = parse_html(f"<head>{head}</head><body>{body}</body>".encode(), url=URL, content=rule)
    assert all(section.matches_text(page.text) for section in page.sections)
    return page.text


THEMES = {
    "WordPress": (
        '<meta name="generator" content="WordPress 6.8"><link href="/wp-includes/a.css">',
        '<div class="post-template-default single single-post"><main><article class="post hentry">'
        f'<div class="entry-content">{STORY}<div class="sharedaddy sd-sharing-enabled">Share this: X</div>'
        f'<div id="jp-relatedposts">{LIST}</div></div></article>'
        f'<div id="comments" class="comments-area"><ol class="comment-list">{SAID}</ol></div></main></div>',
    ),
    "Ghost": (
        NEWS,
        f'<main class="gh-main"><article class="gh-article"><section class="gh-content">{STORY}</section></article>'
        f'<div class="gh-comments">{SAID}</div><section class="gh-container is-grid"><div class="gh-read-next">{LIST}'
        '</div></section><section class="footer-cta">Sign up</section></main>',
    ),
    "Blogger": (
        '<script type="application/ld+json">{"@context":"http://schema.org","@type":"BlogPosting"}</script>',
        f'<div class="main"><div class="post hentry"><div class="post-body entry-content">{STORY}</div></div>'
        f'<div class="comments" id="comments">{SAID}</div><div class="sidebar"><div class="PopularPosts">{LIST}</div>'
        "</div></div>",
    ),
    "Medium": (
        NEWS,
        f"<article><section>{STORY}</section></article><div class=ab><div aria-label=responses>{SAID}</div></div>"
        f'<div class="more-from-author">{LIST}</div>',
    ),
    "Drupal": (
        NEWS,
        f'<div class="region region-content"><div class="node">{STORY}</div><section class="comment-wrapper">{SAID}'
        f'</section></div><div class="region region-sidebar-second">{LIST}</div>',
    ),
    "Jekyll": (
        "",
        '<article class="post h-entry" itemscope itemtype="http://schema.org/BlogPosting">'
        f'<div class="post-content e-content" itemprop="articleBody">{STORY}</div><div id="disqus_thread">{SAID}</div>'
        f"<a href=/tags>All of them</a></article>{LIST}",
    ),
    "Hugo": (
        '<meta property="article:published_time" content="2026-01-01">',
        f'<main><article class="post-single"><div class="post-content">{STORY}</div><footer class="post-footer"><ul '
        f'class="post-tags"><li>birds</ul></footer></article><div class="related">{LIST}</div></main>',
    ),
    "Substack": (
        NEWS,
        f'<div class="single-post-container"><article class="newsletter-post post">{STORY}</article><div '
        f'class="subscribe-widget">Subscribe</div><div class="comments-page">{SAID}</div></div>',
    ),
    "news": (
        '<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle"}</script>',
        '<div class="cookieConsent">We use cookies</div><ol class="breadcrumbs"><li>News</ol>'
        f'<div class="story">{STORY}</div><div class="OUTBRAIN">{LIST}</div><div class="mostRead">{LIST}</div>',
    ),
    "microdata": (
        NEWS,
        f'<div>{STORY}</div><div itemprop="comment" itemscope itemtype="https://schema.org/UserComments">{SAID}</div>',
    ),
}  # fmt: skip


def test_what_stands_beside_an_article_is_no_text_and_its_links_are_followed(
    subtests: pytest.Subtests,
) -> None:
    for name, (head, body) in THEMES.items():
        with subtests.test(name):
            assert text_of(head, body) == TEXT
            page = f"<head>{head}</head><body>{body}</body>".encode()
            assert parse_html(page, url=URL, content=MAIN_CONTENT).links == parse_html(page, url=URL).links


@pytest.mark.parametrize(
    "head",
    [
        "",
        '<meta property="og:type" content="website">',
        '<meta name="generator" content="WordPress 6.8"><link href="/wp-includes/a.css">',
        '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "TechArticle"}</script>',
    ],
)
def test_names_say_nothing_on_a_page_that_declares_no_article(head: str) -> None:
    body = f'{STORY}<div class="comments">{SAID}</div><div class="related">{LIST}</div>'
    assert text_of(head, body) == text_of("", body, WHOLE_PAGE)


@pytest.mark.parametrize(
    "named",
    [
        f'<div class="sidebar-page has-menu"><h1>Herons</h1>{STORY}</div><p>An end</p>',
        f'<div class="content with-sidebar">{STORY}</div><p>An end</p>',
        f'<div class="sharetastic commentary bread-and-crumbs">A note on it.</div>{STORY}',
        '<div class="related">' + "Herons and egrets are alike. " * 5 + "</div><p>They fly.</p>",
        '<div class="comments">' + "Herons and egrets are alike. " * 20 + "</div><p>Nothing else.</p>",
    ],
)
def test_a_weak_mark_removes_neither_the_story_nor_most_of_a_short_page(named: str) -> None:
    assert text_of(NEWS, named) == text_of("", named, WHOLE_PAGE)


def test_comments_may_be_longer_than_their_article() -> None:
    assert text_of(NEWS, f'{STORY}<div class="comments">{SAID * 100}</div>') == TEXT


def test_a_smaller_list_goes_although_what_is_around_it_is_named_alike() -> None:
    assert text_of(NEWS, f'<div class="with-sidebar">{STORY}<div class="related">{LIST}</div></div>') == TEXT


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (f"<p>Before</p><div itemprop=articleBody>{STORY}</div><p>After</p>", TEXT),
        (f"<p>Before</p><div itemprop='text articleBody'>{STORY}</div><p>After</p>", TEXT),
        (f"<div itemprop=articleBody>{STORY}</div><p>Ad</p><div itemprop=articleBody>The end</div>", f"{TEXT} The end"),
        (f"<div itemprop=articleBody>A lead</div>{STORY}", f"A lead {TEXT}"),
        (f"<p>Before</p><article>{STORY}</article><article>Geese</article>", TEXT),
        (f"<article><p>Site</p><article>{STORY}</article></article><p>After</p>", TEXT),
        (f"<article>Geese</article>{STORY}<article>Swans</article>", f"Geese {TEXT} Swans"),
    ],
)  # fmt: skip
def test_the_article_is_what_is_declared_so_if_it_is_a_good_share_of_the_text(body: str, kept: str) -> None:
    assert text_of(POSTING, body) == kept


def test_selectors_of_a_source_come_first() -> None:
    body = f'<p>Before</p><article>{STORY}</article><div class="comments"><p>{SAID}</p></div>'
    said = text_of("", SAID, WHOLE_PAGE)
    assert text_of(NEWS, body, WHOLE_PAGE) == f"Before {TEXT} {said}"
    assert text_of(NEWS, body, ContentRule(include=".comments")) == said
    assert text_of(NEWS, body, ContentRule(exclude="article")) == f"Before {said}"


def test_sections_are_those_of_the_article() -> None:
    body = f'<h2>Menu</h2><article><h2 id=a>One</h2>{STORY}<div class="related"><h2>More</h2>{LIST}</div></article>'
    page = parse_html(f"<head>{NEWS}</head>{body}".encode(), url=URL, content=MAIN_CONTENT)
    assert [(section.title, section.offset, section.anchor) for section in page.sections] == [("One", 0, "a")]


@pytest.mark.parametrize(
    "marks",
    [
        '<div class="related">' * 15_000,
        '<article><div class="comments">' * 7_000,
        '<div class="related"><article>x</article></div>' * 5_000,
        '<h1 class="related">' * 15_000,
    ],
)
def test_marks_by_the_thousand_end(marks: str) -> None:
    with bounded():
        assert text_of(NEWS, STORY + marks).startswith(TEXT)
