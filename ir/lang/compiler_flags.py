"""Which options a description may give to a C compiler: those that say what the processor has.

Any other option may run code where something is only compiled (`-fplugin=`, `-B`, `-wrapper`,
`-mllvm=-load=`), read files (`-include`) or write them (`-o`).
"""

from __future__ import annotations

import re

from hbc.ir.lang.target import ARM, X86

# `-mavx2`, `-mno-avx512f`, `-msse4.2`; the options of several values only with a processor's name.
# clang hands on what `-mllvm` is followed by.
_X86 = re.compile(r"-m(?!llvm\b)[a-z0-9][a-z0-9.-]*|-m(?:arch|cpu|tune)=[a-z0-9][a-z0-9._-]*")
_ARM = re.compile(r"[a-z0-9.-]+(?:\+[a-z0-9.-]+)*")
ALLOWED = {
    X86: "an option such as `-mavx2` or `-march=sapphirerapids`",
    ARM: "a suffix of -march, such as `dotprod`",
}


def is_allowed(machine: str, flag: str) -> bool:
    """Whether the flag of a feature of this machine has an allowed form; none at all is always one."""
    pattern = {X86: _X86, ARM: _ARM}.get(machine)
    return not flag or (pattern is not None and pattern.fullmatch(flag) is not None)
