from .conditional_requests import ConditionalRequests as ConditionalRequests
from .items import items_of as items_of
from .redirect_boundary import RedirectBoundary as RedirectBoundary
from .request_rewriting import RequestRewriting as RequestRewriting
from .site_robots import SiteRobots as SiteRobots
