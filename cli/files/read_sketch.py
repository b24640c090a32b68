"""Reads sketches and what they import: files beside them, or those that come with hbc."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hbc.cli.files.read_source import read_source, source_name
from hbc.ir.ground.diag import error

if TYPE_CHECKING:
    from hbc.ir.ground.source import Source, Span
    from hbc.ir.moves.sketch import Sketch

SHIPPED = Path(__file__).parents[2] / "codegen" / "isa"  # descriptions of instructions


def check_sketch(file: Path, settings: Mapping[str, str]) -> None:
    """HbcError for every mistake that can be seen without searching, also in a file without a goal,
    whose sets others import."""
    from hbc.frontend.sketch.ast import Goal
    from hbc.frontend.sketch.elaborate import load_sets, load_sketch
    from hbc.frontend.sketch.parse import parse_sketch
    from hbc.ir.ground.source import Source

    source = Source(source_name(file), read_source(file))
    has_goal = any(isinstance(s, Goal) for s in parse_sketch(source).statements)
    load = load_sketch if has_goal else load_sets
    load(source, settings, importer(file.parent))


def read_sketch(file: Path, settings: Mapping[str, str]) -> Sketch:
    """The sketch of a file. HbcError for every mistake that can be seen without searching."""
    from hbc.frontend.sketch.elaborate import load_sketch
    from hbc.ir.ground.source import Source

    return load_sketch(
        Source(source_name(file), read_source(file)), settings, importer(file.parent)
    )


def importer(folder: Path) -> Callable[[str, Span], Source]:
    """Finds what a sketch in `folder`, or a file that it imports, imports."""
    from hbc.ir.ground.source import Source

    folders: dict[str, Path] = {}  # of imported files, by their names

    def reader(path: str, span: Span) -> Source:
        beside = folders.get(span.source.name, folder)
        if not path.endswith(".sf"):  # nothing else is read, nor shown in a message about it
            raise error(f"cannot import `{path}`: its name does not end in `.sf`", span)
        for candidate in (beside / path, SHIPPED / path):
            if candidate.is_file():
                source = Source(source_name(candidate), read_source(candidate))
                folders[source.name] = candidate.parent
                return source
        shipped = ", ".join(sorted(file.name for file in SHIPPED.glob("*.sf")))
        raise error(
            f"there is no `{beside / path}`", span,
            f"imports are looked for beside the sketch and among those that come with hbc: {shipped}",
        )  # fmt: skip

    return reader
