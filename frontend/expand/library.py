"""What the library that ships with hbc defines, by name: for messages about functions not imported."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from hbc.frontend.expand.imports import LIBRARY, LIBRARY_PREFIX, SUFFIX

_DEFINED = re.compile(r"^def (\w+)(\(.*?\))(?=\[| *=)", re.MULTILINE)


@cache
def library_functions() -> Mapping[str, str]:
    """For each function how to get and to call it: "`import "std/math.hb"` brings `lerp(a, b, t)`"."""
    return {
        name: f'`import "{LIBRARY_PREFIX}{file.name}"` brings `{name}{parameters}`'
        for file in sorted(LIBRARY.glob(f"*{SUFFIX}"))
        for name, parameters in _DEFINED.findall(file.read_text(encoding="utf-8"))
    }
