"""Data-source definitions: typed, validated, immutable.

`DataSource` holds the options of one source, `Project` the sources of a definition file and the options they share.
`load_project` reads YAML and returns `Loaded` (a project or findings); `load_tree` does so for other formats.
`require` returns the project or raises for any mistake, `usable_project` separates invalid sources instead,
`render_findings` formats findings. `definition_text` writes a project as YAML, `json_schema` describes the files.
`Catalog` finds sources by name, `adhoc_project` makes a project from URLs. `compile_source` turns a source into
`CompiledSource`, the rule objects that a crawl uses. The names are imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
