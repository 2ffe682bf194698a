"""The data of a crawl by an early version (`data.tar.xz`): its state is refused, its indexes are brought up to date.

Each project is a folder with its definition and its `var`; the sites of their pages are gone.
"""
