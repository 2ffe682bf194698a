"""Scrapy settings of the package: name this module in `SCRAPY_SETTINGS_MODULE` or in `scrapy.cfg`.

`ultracrawl.settings.presets` holds what the add-on sets for spiders made from definitions; here stands what every
spider of such a project gets.
"""

from ultracrawl.settings.presets import hardened

BOT_NAME = "ultracrawl"
SPIDER_MODULES: list[str] = []
SPIDER_LOADER_CLASS = "ultracrawl.spiders.SourceSpiderLoader"
ADDONS = {"ultracrawl.addon.UltracrawlAddon": 500}
TELNETCONSOLE_ENABLED = hardened["TELNETCONSOLE_ENABLED"]
REMOTE_CONTROL_ENABLED = hardened["REMOTE_CONTROL_ENABLED"]
DOWNLOAD_VERIFY_CERTIFICATES = hardened["DOWNLOAD_VERIFY_CERTIFICATES"]
DOWNLOAD_TLS_MIN_VERSION = hardened["DOWNLOAD_TLS_MIN_VERSION"]
REFERRER_POLICY = hardened["REFERRER_POLICY"]
