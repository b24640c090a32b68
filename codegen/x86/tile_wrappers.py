"""The tile intrinsics that a C file uses, as macros of its own, from templates/amx_intrinsics.h."""

from __future__ import annotations

import re
from pathlib import Path

_HEADER = Path(__file__).parents[1] / "templates" / "amx_intrinsics.h"
_DEFINITION = re.compile(
    r"^(?:/\*(?:[^*]|\*(?!/))*\*/\n)?#define (\w+)\((?:.*\\\n)*.*\n", re.MULTILINE
)
_WORD = re.compile(r"\w+")
_ABOUT = """\
/* AMX instructions as assembly that the compiler takes for reading and writing memory: gcc 12 believes
   that the intrinsics of these names read none. A header included before may define others. */
"""


def uses_tiles(code: str) -> bool:
    return "_tile_" in code


def wrappers(code: str) -> str:
    """The definitions that the text of a C file needs, in front of it."""
    header = _HEADER.read_text(encoding="ascii")
    definitions = {m[1]: m[0] for m in _DEFINITION.finditer(header)}
    needed: set[str] = set()
    left = [name for name in definitions if re.search(rf"\b{name}\b", code)]
    while left:
        name = left.pop()
        needed.add(name)
        used = definitions.keys() & _WORD.findall(definitions[name])
        left += used - needed
    undone = [
        f"#undef {name}\n"
        for name in definitions
        if name in needed and f"#undef {name}\n" in header
    ]
    return "".join([
        _ABOUT, "#ifndef AMX_SOFT\n#include <immintrin.h>\n", *undone,
        *(text for name, text in definitions.items() if name in needed), "#endif\n",
    ])  # fmt: skip
