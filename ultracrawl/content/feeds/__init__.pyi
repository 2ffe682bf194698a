from .feed import FEED_TYPES as FEED_TYPES
from .feed import XML_TYPES as XML_TYPES
from .feed import Feed as Feed
from .feed import FeedEntry as FeedEntry
from .feed import is_feed as is_feed
from .feed import parse_feed as parse_feed
