"""Looking at a kernel between the passes: dumps, what advice is about, the verifier."""

from __future__ import annotations

from typing import Final

from hbc.cli.advice import Watch
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang.kernel import Kernel

ENDS: Final = ("lower", "simplify-vectors", "barriers")
"""Passes after which the IR is verified: as it comes, before instructions are selected, and at the end.
After each would take a tenth of all the time."""


class Dumps:
    """Looks at the kernel after each pass: keeps the dumps and what advice is about, runs the IR verifier
    where a part of the way ends."""

    def __init__(self, dumped: tuple[str, ...], checked: bool) -> None:
        self.texts: list[str] = []
        self._dumped = dumped
        self._checked = checked
        self._unchecked: list[tuple[str, Kernel]] = []
        self.watch = Watch()

    def after(self, name: str, kernel: Kernel) -> None:
        from hbc.ir.lang.show import show_kernel

        self.watch(name, kernel)
        if name in self._dumped:
            self.texts.append(f"# after {name}\n{show_kernel(kernel).rstrip()}\n")
        if not self._checked:
            return
        if not self._unchecked or kernel is not self._unchecked[-1][1]:
            self._unchecked.append((name, kernel))
        if name in ENDS:
            self._check()

    def blame(self) -> None:
        """Raises InternalError for the first pass whose result is wrong, of those since the last check."""
        from hbc.ir.meaning.verify import verify

        for name, kernel in self._unchecked:
            verify(kernel, name)

    def _check(self) -> None:
        from hbc.ir.meaning.verify import verify

        name, kernel = self._unchecked[-1]
        try:
            verify(kernel, name)
        except InternalError:
            self.blame()
            raise
        self._unchecked = self._unchecked[-1:]
