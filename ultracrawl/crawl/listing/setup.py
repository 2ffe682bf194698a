"""What listers and fetchers are made from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ultracrawl.agents.port import KindSetup
from ultracrawl.sources.secrets import SecretReader

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext


def setup_of(context: CrawlContext) -> KindSetup[Any]:
    """Return what a kind is told of the source of a crawl."""
    project, source = context.project, context.source
    secrets = SecretReader(os.environ, project.key_file)
    return KindSetup(source, source, project.base, secrets, context.run.force, context.clock)
