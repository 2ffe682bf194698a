"""Looking at a site before it is crawled, by a bounded number of requests to allowed addresses only.

`client` sends single requests. `probe` tests names, addresses, robots.txt and TLS. `survey` reads the front page and
robots.txt as a crawl would (`visitor`) and estimates the number of pages (`page_count`); `generators` knows what made
the site, and `draft` writes a definition of all that.
"""
