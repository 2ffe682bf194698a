"""The state of a source, once for all engines: what is not flushed yet, over what tables have, read for many at once.

`part.Part` is the base of the six parts, `store.UnitOfWork` that of the store. An engine derives from each of them a
class with its statements, whose names and values the base says.
"""
