"""A file of several kernels, `kernel NAME { ... }`: each of them alone, with what all share.

A kernel alone is a source as long as the file, with blanks for the others and for its own braces. So it is
read like a file that has one kernel, and places in it are places in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from hbc.frontend.text import ast
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import Diagnostic, HbcError, Note
from hbc.ir.ground.source import Source

# What stands outside of the kernels of a file, and what a file gives to those that import it.
SHARED = (ast.Function, ast.Import, ast.Param, ast.TypeParam, ast.Table)

_BRACE = r"(?:\s|#[^\n]*\n)*\{"
_BLOCK = re.compile(rf"\bkernel\s+[A-Za-z_]\w*{_BRACE}")
_OPENING = re.compile(_BRACE)


@lru_cache(maxsize=8)
def kernels(source: Source) -> tuple[ast.Kernel, ...]:
    """Those in braces, in their order; none in a file of one kernel. HbcError with mistakes of syntax, and
    with what kernels cannot share."""
    return () if _BLOCK.search(source.text) is None else kernels_of(parse(source))


def kernels_of(file: ast.File) -> tuple[ast.Kernel, ...]:
    """The same, of a file that is parsed."""
    statements = file.statements
    found = tuple(s for s in statements if isinstance(s, ast.Kernel) and s.body is not None)
    mistakes = [*_outside(statements), *_named_twice(found)] if found else []
    if mistakes:
        raise HbcError(mistakes)
    return found


def each(source: Source) -> list[Source]:
    """All kernels of the file, each alone; the file, where it is of one."""
    return [alone(source, k.name.text) for k in kernels(source)] or [source]


def alone(source: Source, name: str) -> Source:
    """The kernel of that name, one of `kernels(source)`, as a file that has it alone."""
    return alone_of(kernels(source), name)


def alone_of(several: Sequence[ast.Kernel], name: str) -> Source:
    """The same, of all kernels of a file that is parsed."""
    source = several[0].span.source
    text = source.text
    for kernel in several:
        span = kernel.span
        if kernel.name.text == name:
            opening = _OPENING.match(text, kernel.name.span.end)
            assert opening is not None
            blanks = [(opening.end() - 1, opening.end()), (span.end - 1, span.end)]
        else:
            blanks = [(span.start, span.end)]
        for start, end in blanks:
            text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return Source(source.name, text, source.shown)


def _outside(statements: Sequence[ast.Statement]) -> Iterator[Diagnostic]:
    for s in statements:
        if isinstance(s, ast.Kernel):
            if s.body is None:
                hint = f"write `kernel {s.name.text} {{ ... }}` around its statements"
                yield Diagnostic("a kernel without braces beside kernels in braces", s.span, hint)
        elif not isinstance(s, SHARED):
            yield Diagnostic(
                "this stands outside of the file's kernels", s.span,
                "move it into a kernel; kernels share functions, imports, params, types and tables",
            )  # fmt: skip


def _named_twice(found: Sequence[ast.Kernel]) -> Iterator[Diagnostic]:
    first: dict[str, ast.Kernel] = {}
    for kernel in found:
        other = first.setdefault(kernel.name.text, kernel)
        if other is not kernel:
            note = Note("the first one", other.name.span)
            message = f"the file has two kernels `{kernel.name.text}`"
            yield Diagnostic(message, kernel.name.span, "give one another name", (note,))
