"""The Python source that the interpreter makes of a kernel: a line per node, fresh names only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

from hbc.ir.instruction import Instruction
from hbc.ir.record import mutable

FILE = "<kernel in the interpreter>"
"""What tracebacks call the source."""

# CPython allows 20 nested loops in one function.
_LOOPS_PER_FUNCTION = 12


@mutable
class Code:
    """Lines so far. `variables` and `buffers` map the IR's names in scope to Python's; `objects`
    are the constants and functions that the lines refer to; `loops` names loop variables. `thread`
    is the number of the thread or warp, inside the loops over them; `in_block`: inside of a
    GPU's block; `shared_out` are the buffers of which each has one of its own."""

    lines: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    buffers: dict[str, str] = field(default_factory=dict)
    objects: dict[str, object] = field(default_factory=dict)
    loops: dict[str, str] = field(default_factory=dict)
    instructions: dict[str, Instruction] = field(default_factory=dict)
    thread: str = ""
    in_block: bool = False
    shared_out: set[str] = field(default_factory=set)
    depth: int = 1
    nesting: int = 0
    count: int = 0

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def assign(self, text: str) -> str:
        """A new name for the value of `text`."""
        name = self.fresh("t")
        self.line(f"{name} = {text}")
        return name

    def refer(self, value: object) -> str:
        """A name for an object that exists already."""
        name = self.fresh("k")
        self.objects[name] = value
        return name

    @contextmanager
    def indented(self, head: str) -> Iterator[None]:
        """The lines within belong to `head`."""
        self.line(head)
        self.depth += 1
        yield
        self.line("pass")
        self.depth -= 1

    @contextmanager
    def loop(self, head: str) -> Iterator[None]:
        """As `indented`, opening a new function where CPython's limit on nested loops is near."""
        if self.nesting < _LOOPS_PER_FUNCTION:
            self.nesting += 1
            with self.indented(head):
                yield
            self.nesting -= 1
            return
        outside, self.nesting = self.nesting, 1
        function = self.fresh("f")
        with self.indented(f"def {function}():"), self.indented(head):
            yield
        self.line(f"{function}()")
        self.nesting = outside

    @contextmanager
    def bound(self, scope: dict[str, str], name: str, python: str) -> Iterator[None]:
        """Within, the IR's `name` is Python's `python`."""
        hidden = scope.get(name)
        scope[name] = python
        yield
        if hidden is None:
            del scope[name]
        else:
            scope[name] = hidden

    def source(self, head: str) -> str:
        """The whole function."""
        return "\n".join([head, *self.lines, "    pass"]) + "\n"
