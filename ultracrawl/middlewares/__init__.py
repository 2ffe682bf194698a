"""Downloader middlewares: thin adapters that ask the rules, in the order in which a request meets them.

`AddressMiddleware` (networks that may be reached), `RobotsMiddleware` (robots.txt),
`ConditionalMiddleware` (validators and unchanged answers), `RedirectMiddleware` (redirects and their boundary),
`StatusMiddleware` (errors, retries, vanished pages).
"""
