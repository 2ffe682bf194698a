from .archive import archive_of as archive_of
from .fetcher import MailFetcher as MailFetcher
from .lister import MailLister as MailLister
from .mail_urls import place_of as place_of
