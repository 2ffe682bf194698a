"""Reads filters and their rules from files: `filter.conf`, `filterrules.conf`, `classification.conf`.

`lexer.read_text` splits them, and the `robot.conf` beside them, into `Block`s and `Directive`s. They share one grammar,
that of NSAPI's `obj.conf`. `filter_file`, `rules_file` and `custom_functions` make of them what `rules.filters` runs.
"""
