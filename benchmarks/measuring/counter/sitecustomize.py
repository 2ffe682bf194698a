"""Counts the calls of a Python process by function; Python imports a module of this name on start.

At exit the counts of the main thread are written as JSON to the folder `CALLS_FOLDER`: for each file of the package, in
the checkout `CALLS_TREE`, how often its functions were called, how often they called functions in C, and what they gave
to some of these (given_to_c); what was made at import; the number of modules.
"""

import atexit
import cProfile
import json
import os
import pstats
import sys

import given_to_c

_TREE = os.path.join(os.environ.get("CALLS_TREE", ""), "")
_PACKAGE = os.path.join(_TREE, "ultracrawl", "")
_IN_C = ("~", given_to_c.__file__)
_MADE = {
    ("_model_construction.py", "__new__"): "pydantic models",
    ("dataclasses.py", "_process_class"): "dataclasses",
    ("dataclasses.py", "_create_fn"): "methods of dataclasses",
    ("dataclass.py", "_compiled"): "methods of dataclasses",
    ("_compiler.py", "compile"): "regular expressions",
}
"""What functions make that a start should make little of, by their file and name."""
_profile = cProfile.Profile()


def _write() -> None:
    _profile.disable()
    functions: dict[str, int] = {}
    in_c: dict[str, int] = {}
    made = dict.fromkeys(_MADE.values(), 0)
    for (file, _, name), (_, calls, _, _, callers) in pstats.Stats(_profile).stats.items():
        if file in _IN_C:
            for (caller, _, function), counts in callers.items():
                place = _place(caller)
                if place and function != "<module>":
                    in_c[place] = in_c.get(place, 0) + counts[1]
        elif kind := _MADE.get((os.path.basename(file), name)):
            made[kind] += calls
        elif name != "<module>" and (place := _place(file)):
            functions[place] = functions.get(place, 0) + calls
    seen = {
        "command": sys.orig_argv,
        "functions": functions,
        "in_c": in_c,
        "given": _given.by_kind,
        "made": made,
        "modules": len(sys.modules),
    }
    with open(os.path.join(os.environ["CALLS_FOLDER"], f"{os.getpid()}.json"), "w") as file:
        json.dump(seen, file)


def _place(file: str) -> str:
    """Return the path of a file of the package below the checkout, empty for another file."""
    return file.removeprefix(_TREE) if file.startswith(_PACKAGE) else ""


if "CALLS_FOLDER" in os.environ:
    atexit.register(_write)
    _given = given_to_c.count(_place)
    _profile.enable()
