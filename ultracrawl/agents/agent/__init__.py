"""Sources that a class of somebody's own lists: `crawler_agent` is what it is made from, the rest calls it."""
