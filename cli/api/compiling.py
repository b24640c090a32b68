"""`hbc.compile`: from a file or a text to a kernel that is called on arrays."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hbc.cli.api.deep import in_compiler
from hbc.ir.ground.diag import Diagnostic, UsageError

if TYPE_CHECKING:
    from hbc.cli.api.kernel import Kernel
    from hbc.ir.ground.source import Source

Setting = int | float | str
TEXT_NAME = "<kernel>"  # what diagnostics call a kernel that is no file
DEFINES = re.compile(r"\]\s*[-+*]?=")  # as in `B[i] = A[i]`, not as in a path
AUTO = "auto"  # as target: the best for this kernel that the machine runs


def compile(
    source: str | os.PathLike[str],
    /,
    *,
    kernel: str | None = None,
    target: str | None = None,
    schedule: str | None = None,
    isa: Iterable[str | os.PathLike[str]] = (),
    fallback: str = "error",
    threads: int | None = None,
    on_cpu: bool = False,
    **sizes: Setting,
) -> Kernel:
    """Compiles a kernel for calls from Python.

    `source` is the path of a `.hb` file, or its text: a string with a line break is text; `kernel` says
    which one is meant, of a file with several. `target`,
    `schedule`, `isa` and `fallback` mean what they mean to `hbc compile`; `target="auto"` is the
    default there. `sizes` fix sizes, params and types, as `--set` does: `H=512`, `T="bf16"`.
    `threads` is how many threads `parallel` loops take (default: as OpenMP decides). `on_cpu` lets the
    processor run CUDA code.

    Raises `HbcError` for mistakes in the kernel, `UsageError` for targets and schedules that do not
    exist, `ToolError` where the C compiler is missing or this processor cannot run the target.
    """
    from hbc.cli.api.kernel import Kernel

    if threads is not None and threads < 1:
        raise UsageError(Diagnostic(f"`threads = {threads}`: at least one thread does the work"))
    settings = {name: _setting(name, value) for name, value in sizes.items()}
    wanted = None if target == AUTO else target

    def made() -> Kernel:
        from hbc.cli.kept_kernels import choose_kept

        paths = tuple(Path(path) for path in isa)
        _, compile_it = choose_kept(
            _source(source), kernel, settings, wanted, schedule, paths, fallback, fix_sizes=True
        )
        return Kernel(compile_it(), settings, threads, on_cpu)

    return in_compiler(made)


def _source(kernel: str | os.PathLike[str]) -> Path | Source:
    from hbc.ir.ground.source import Source

    if isinstance(kernel, str) and "\n" in kernel:
        return Source(TEXT_NAME, kernel.replace("\r\n", "\n"))
    if isinstance(kernel, str) and (DEFINES.search(kernel) or not kernel.strip()):
        raise UsageError(
            Diagnostic(
                f"there is no file `{kernel}`",
                hint="a path is meant unless the text has a line break: end it with one",
            )
        )
    return Path(kernel)


def _setting(name: str, value: Setting) -> str:
    """As `--set` spells it. UsageError for what is neither a number nor a name."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        try:
            return str(value.__index__())  # numpy.int64 and its like
        except AttributeError:
            kind = type(value).__name__
            raise UsageError(
                Diagnostic(
                    f"`{name}` is of type `{kind}`: sizes and params are numbers, or names of types"
                )
            ) from None
    return str(value)
