from .command import crawl_continuously as crawl_continuously
from .command import crawl_together as crawl_together
from .command import launch_schedule as launch_schedule
from .definitions import Definitions as Definitions
from .planned_crawls import CrawlOptions as CrawlOptions
from .serving import ServeOptions as ServeOptions
from .serving import serve as serve
