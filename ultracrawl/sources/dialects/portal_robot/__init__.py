"""Reads, edits and writes the four configuration files of the portal search robot.

`lexer.read_text` splits `filter.conf`, `filterrules.conf`, `robot.conf` and `classification.conf` into `Block`s and
`Directive`s. They share one grammar, that of NSAPI's `obj.conf`.
"""
