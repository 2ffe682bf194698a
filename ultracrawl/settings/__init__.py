"""Scrapy settings module of the package, for `SCRAPY_SETTINGS_MODULE` or `scrapy.cfg`; applies to every spider.

`ultracrawl.settings.presets` has the settings that the add-on installs for spiders made from definitions.
"""

from ultracrawl.settings.presets import HARDENED_SETTINGS

BOT_NAME = "ultracrawl"
SPIDER_MODULES: list[str] = []
SPIDER_LOADER_CLASS = "ultracrawl.spiders.SourceSpiderLoader"
ADDONS = {"ultracrawl.addon.UltracrawlAddon": 500}
TELNETCONSOLE_ENABLED = HARDENED_SETTINGS["TELNETCONSOLE_ENABLED"]
REMOTE_CONTROL_ENABLED = HARDENED_SETTINGS["REMOTE_CONTROL_ENABLED"]
DOWNLOAD_VERIFY_CERTIFICATES = HARDENED_SETTINGS["DOWNLOAD_VERIFY_CERTIFICATES"]
DOWNLOAD_TLS_MIN_VERSION = HARDENED_SETTINGS["DOWNLOAD_TLS_MIN_VERSION"]
REFERRER_POLICY = HARDENED_SETTINGS["REFERRER_POLICY"]
