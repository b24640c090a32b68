"""What a shell offers behind an option: targets, the schedules of the file that was named, its sizes.

eval "$(_HBC_COMPLETE=bash_source hbc)"
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from hbc.frontend.text import ast


def targets(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """The names of the targets that begin so."""
    from hbc.ir.lang.target import TARGETS

    return _beginning(TARGETS, begun)


def several_targets(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """Those that begin like what stands behind the last comma, with what stands before it."""
    from hbc.ir.lang.target import TARGETS

    before, comma, last = begun.rpartition(",")
    return [f"{before}{comma}{name}" for name in _beginning(TARGETS, last)]


def triples(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """The machines that C can be for."""
    from hbc.codegen.build.triple import known_triples

    return _beginning([str(t) for t in known_triples()], begun)


def schedules(ctx: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """Those of the file, and the two that every file has."""
    from hbc.frontend.text import ast

    named = [s.name.text for s in _statements(ctx) if isinstance(s, ast.Schedule)]
    return _beginning([*named, "auto", "none"], begun)


def kernels(ctx: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """Those of the file."""
    from hbc.frontend.text import ast

    return _beginning([s.name.text for s in _statements(ctx) if isinstance(s, ast.Kernel)], begun)


def settings(ctx: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """`N=` for each size, param and type of the file."""
    from hbc.frontend.text import ast

    names: list[str] = []
    for s in _statements(ctx):
        match s:
            case ast.Sizes(names=declared):
                names += [name.text for name in declared]
            case ast.Param(name=name) | ast.TypeParam(name=name):
                names.append(name.text)
    return _beginning([f"{name}=" for name in names], begun)


def files_or_settings(
    ctx: click.Context, param: click.Parameter, begun: str
) -> list[CompletionItem]:
    """What the first of the files lets be set, and more files."""
    from click.shell_completion import CompletionItem

    found = [CompletionItem(name) for name in settings(ctx, param, begun)]
    return [*found, CompletionItem(begun, type="file")]


def _beginning(names: Iterable[str], begun: str) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(begun)]


def _statements(ctx: click.Context) -> tuple[ast.Statement, ...]:
    """Of the first kernel on the line; none where it cannot be read, or is wrong."""
    from hbc.frontend.text.parse import parse, with_blocks
    from hbc.ir.ground.diag import HbcError
    from hbc.ir.ground.source import Source

    # Behind an option that waits for its value click has not given out the arguments yet.
    given = [ctx.params.get("kernel"), *(ctx.params.get("kernels") or ()), *ctx.args]
    named = next((file for file in given if file is not None), None)
    if named is None:
        return ()
    with contextlib.suppress(OSError, UnicodeDecodeError, HbcError):
        source = Source(str(named), Path(named).read_text(encoding="utf-8"))
        return tuple(with_blocks(parse(source).statements))
    return ()
