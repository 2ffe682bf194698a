"""URLs as the crawler compares, stores and shows them.

`UrlPolicy` (how a link as written becomes a canonical URL; `Canonical` is its explained answer), `url_key`
(the 64-bit key of a canonical URL), `JoinedLinks` (a memory in front of a policy), `split`, `site_of`,
`host_of`, `path_of` and `UrlParts` (its parts), `display_url`
(the form for people), `unify` (percent-encoding in canonical form), `repeats` (path segments that repeat, the mark of
an endless site), `widest_own_domain` (what the owner of a host has registered), `SESSION_PARAMETERS` and
`TRACKING_PARAMETERS` (names that a source may have removed).
"""
