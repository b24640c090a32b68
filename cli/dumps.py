"""Looking at a kernel between the passes: dumps, what advice is about, the verifier."""

from __future__ import annotations

from hbc.cli.advice import Watch
from hbc.cli.passes import NAMES
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang.kernel import Kernel


class Dumps:
    """Looks at the kernel after each pass: keeps the dumps and what advice is about. The IR is verified at
    the end; when it is wrong then, or a pass dies of it, so is what each pass made, to name the first. (After
    each it would take a tenth of all the time.)"""

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
        if name == NAMES[-1]:
            self._check()

    def blame(self) -> None:
        """Raises InternalError for the first pass whose result is wrong."""
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
