"""Canonical URLs, their parts and keys.

* `canonical`: `UrlPolicy` makes canonical URLs of links; `url_key` is the 64-bit key of one; `split`, `site_of`,
  `host_of`, `path_of` return its parts, `display_url` the form for people
* `joined.JoinedLinks`: a cache in front of a policy
* `parameters`: query parameters that are removed; `payloads`: POST bodies
* `recursion`: repeated path segments, a sign of a crawler trap; `registrable`: the registrable domain of a host
"""
