"""hbc: small numeric kernels, compiled to readable, fast C.

From Python: `hbc.compile("blur.hb", H=512)` gives a `Kernel`, which is called on arrays. See
`docs/python.md`. Nothing is imported until it is used, so that `hbc --help` answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hbc.cli.api.compiling import compile
    from hbc.cli.api.kernel import Kernel
    from hbc.ir.ground.diag import (
        ArgumentError,
        HbcError,
        InternalError,
        MismatchError,
        NoSolutionError,
        ToolError,
        UsageError,
    )

__all__ = [
    "ArgumentError", "HbcError", "InternalError", "Kernel", "MismatchError", "NoSolutionError",
    "ToolError", "UsageError", "__version__", "compile",
]  # fmt: skip

_HOMES = {
    "compile": "hbc.cli.api.compiling",
    "Kernel": "hbc.cli.api.kernel",
    **dict.fromkeys(
        (
            "ArgumentError", "HbcError", "InternalError", "MismatchError", "NoSolutionError",
            "ToolError", "UsageError",
        ),
        "hbc.ir.ground.diag",
    ),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("hbc.cli.show.crash").version()
    if name not in _HOMES:
        raise AttributeError(f"module `hbc` has no attribute `{name}`")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
