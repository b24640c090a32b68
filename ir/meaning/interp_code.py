"""The Python source that the interpreter makes of a kernel: a line per value, fresh names only.

What has no effect is computed once, outside of the loops of which it reads no variable: the same text
means the same value where the names in it do.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Final

from hbc.ir.ground.record import mutable
from hbc.ir.lang.instruction import Instruction

FILE = "<kernel in the interpreter>"
"""What tracebacks call the source."""

# CPython allows 20 nested loops in one function.
_LOOPS_PER_FUNCTION = 12
_FRESH: Final = re.compile(r"\b[a-z]\d+\b")
"""The names that `Code.fresh` makes, in a text."""
Lines = list["str | Lines"]


@mutable
class Suite:
    """The lines of a block of Python, indented by `depth`. `head`: those right before it. `values`:
    the names of what has been computed in it, by its text and what is done then."""

    depth: int
    lines: Lines = field(default_factory=list)
    head: Lines = field(default_factory=list)
    values: dict[tuple[str, str], str] = field(default_factory=dict)


@mutable
class Code:
    """The suites that are open. `variables` and `buffers` map the IR's names in scope to Python's; `objects`
    are the constants and functions that the lines refer to; `loops` names loop variables. `thread`
    is the number of the thread or warp, inside the loops over them; `in_block`: inside of a
    GPU's block; `shared_out` are the buffers of which each has one of its own."""

    suites: list[Suite] = field(default_factory=lambda: [Suite(1)])
    variables: dict[str, str] = field(default_factory=dict)
    buffers: dict[str, str] = field(default_factory=dict)
    objects: dict[str, object] = field(default_factory=dict)
    loops: dict[str, str] = field(default_factory=dict)
    innermost: str = ""  # the variable of the loop that lines are in
    instructions: dict[str, Instruction] = field(default_factory=dict)
    thread: str = ""
    in_block: bool = False
    shared_out: set[str] = field(default_factory=set)
    homes: dict[str, int] = field(default_factory=dict)  # of names, which suite defines them
    known: dict[Hashable, str] = field(default_factory=dict)  # names of objects
    signal: str = ""  # what the copies of a group land at
    nesting: int = 0
    count: int = 0

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def line(self, text: str) -> None:
        suite = self.suites[-1]
        suite.lines.append("    " * suite.depth + text)

    def assign(self, text: str) -> str:
        """A new name for what `text` gives here and now."""
        name = self.fresh("t")
        self.homes[name] = len(self.suites) - 1
        self.line(f"{name} = {text}")
        return name

    def value(self, text: str, then: str = "") -> str:
        """A name for the value of `text`, which reads no buffer and has no effect. `then`: what is done
        to the value, `{}`, right after."""
        home = max((self.homes.get(name, 0) for name in _FRESH.findall(text)), default=0)
        suite, key = self.suites[home], (text, then)
        if key in suite.values:
            return suite.values[key]
        name = suite.values[key] = self.fresh("t")
        self.homes[name] = home
        lines = suite.lines if suite is self.suites[-1] else self.suites[home + 1].head
        indent = "    " * suite.depth
        lines.append(f"{indent}{name} = {text}")
        if then:
            lines.append(indent + then.format(*[name] * then.count("{}")))
        return name

    def refer(self, value: object, key: Hashable = None) -> str:
        """A name for an object that exists already: the same for equal keys."""
        key = id(value) if key is None else key
        name = self.known.get(key)
        if name is None:
            name = self.known[key] = self.fresh("k")
            self.objects[name] = value  # which thus stays, and with it its id
        return name

    @contextmanager
    def indented(self, head: str, after: Suite | None = None) -> Iterator[Suite]:
        """The lines within belong to `head`. `after`: the suite that it may not be parted from."""
        outer, inner = self.suites[-1], Suite(self.suites[-1].depth + 1)
        if after is None:
            outer.lines.append(inner.head)
        else:
            inner.head = after.head
        self.line(head)
        outer.lines.append(inner.lines)
        self.suites.append(inner)
        yield inner
        self.line("pass")
        self.suites.pop()

    @contextmanager
    def loop(self, variable: str, steps: str) -> Iterator[None]:
        """The lines within are done for each of the steps, in a new function where CPython's limit on
        nested loops is near."""
        head = f"for {variable} in {steps}:"
        if self.nesting < _LOOPS_PER_FUNCTION:
            self.nesting += 1
            with self.indented(head):
                self.homes[variable] = len(self.suites) - 1
                yield
            self.nesting -= 1
            return
        outside, self.nesting = self.nesting, 1
        function = self.fresh("f")
        with self.indented(f"def {function}():"), self.indented(head):
            self.homes[variable] = len(self.suites) - 1
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
        return "\n".join([head, *_flat(self.suites[0].lines), "    pass"]) + "\n"


def _flat(lines: Lines) -> Iterator[str]:
    for line in lines:
        if isinstance(line, str):
            yield line
        else:
            yield from _flat(line)
