"""The four configuration files of the portal search robot, read as they stand.

`read_text` splits `filter.conf`, `filterrules.conf`, `robot.conf` and `classification.conf` into `Block`s and
`Directive`s; their one grammar is that of NSAPI's `obj.conf`.
"""

from ultracrawl.sources.dialects.portal_robot.lexer import Block, ConfigText, Directive, Parameter, read_text

__all__ = ["Block", "ConfigText", "Directive", "Parameter", "read_text"]
