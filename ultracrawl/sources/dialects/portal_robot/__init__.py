"""The four configuration files of the portal search robot, read as they stand.

`lexer.read_text` splits `filter.conf`, `filterrules.conf`, `robot.conf` and `classification.conf` into `Block`s and
`Directive`s; their one grammar is that of NSAPI's `obj.conf`.
"""
