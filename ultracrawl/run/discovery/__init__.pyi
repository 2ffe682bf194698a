from .sitemap_reader import SitemapReader as SitemapReader
