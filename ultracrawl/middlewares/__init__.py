"""Downloader middlewares: thin adapters that ask the rules, in the order in which a request meets them.

`RobotsMiddleware` (robots.txt), `StatusMiddleware` (errors, retries, vanished pages), `RedirectMiddleware` (redirects
and their boundary), `ConditionalMiddleware` (validators and unchanged answers), `AnswerMiddleware` (which answers
become pages). Answers meet them from the last to the first.
"""
