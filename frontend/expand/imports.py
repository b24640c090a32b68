"""Reads the files that a file imports: from its folder, or from the library that ships with hbc."""

from __future__ import annotations

from dataclasses import field, replace
from functools import lru_cache
from pathlib import Path

from hbc.frontend.text import ast
from hbc.frontend.text.giants import LARGEST_SOURCE
from hbc.frontend.text.kernels import SHARED
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import Diagnostic, HbcError, Note, did_you_mean
from hbc.ir.ground.record import mutable
from hbc.ir.ground.source import Source, Span

LIBRARY = Path(__file__).resolve().parents[1] / "std"
LIBRARY_PREFIX = "std/"
SUFFIX = ".hb"
MOST_FILES = 100


@mutable
class _Reading:
    """What has been read: by path, the import that asked for it first. `path` are those being read."""

    seen: dict[Path, Span | None] = field(default_factory=dict)
    path: list[Path] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    mistakes: list[Diagnostic] = field(default_factory=list)


def with_imports(file: ast.File) -> ast.File:
    """The file with the statements of those that it imports in the places of the imports, each once.
    HbcError for files that cannot be read, that are wrong, or that import each other."""
    begin = Path(file.source.name)
    reading = _Reading({_identity(begin): None}, [_identity(begin)])
    statements = _statements(file, begin.parent, reading)
    if reading.mistakes:
        raise HbcError(reading.mistakes)
    return replace(file, statements=statements, imported=tuple(reading.sources))


def _statements(file: ast.File, folder: Path, reading: _Reading) -> tuple[ast.Statement, ...]:
    statements: list[ast.Statement] = []
    for s in file.statements:
        if isinstance(s, ast.Import):
            statements += _imported(s, folder, reading)
        else:
            statements.append(s)
    return tuple(statements)


def _imported(s: ast.Import, folder: Path, reading: _Reading) -> tuple[ast.Statement, ...]:
    path = _place(s, folder)
    here = _identity(path)
    if here in reading.path:
        first = reading.seen[here]
        notes = () if first is None else (Note("it is imported here first", first),)
        message = f"`{s.path.value}` imports itself, by way of this import"
        if reading.path[-1] == here:
            message = f"`{s.path.value}` imports itself"
        reading.mistakes.append(
            Diagnostic(message, s.span, "a file needs no import of its own", notes)
        )
        return ()
    if here in reading.seen:
        return ()
    if len(reading.seen) >= MOST_FILES:
        reading.mistakes.append(Diagnostic(f"more than {MOST_FILES} files are imported", s.span))
        return ()
    reading.seen[here] = s.span
    source = _source(path, s, reading)
    if source is None:
        return ()
    try:
        imported = _parsed(source.name, source.text)
    except HbcError as failure:
        note = Note("it is imported here", s.span)
        reading.mistakes += [replace(d, notes=(*d.notes, note)) for d in failure.diagnostics]
        return ()
    reading.sources.append(imported.source)
    for given in imported.statements:
        if not isinstance(given, SHARED):
            reading.mistakes.append(
                Diagnostic(
                    f"`{s.path.value}` is imported, and has more than functions, params and tables",
                    given.span, "move what others use into a file of its own",
                    (Note("it is imported here", s.span),),
                )
            )  # fmt: skip
            return ()
    reading.path.append(here)
    statements = _statements(imported, path.parent, reading)
    reading.path.pop()
    return statements


@lru_cache(maxsize=MOST_FILES)
def _parsed(name: str, text: str) -> ast.File:
    """Once, as long as it says the same: who imports it may be read at every keystroke. (Mistakes are no
    result, and found again.)"""
    return parse(Source(name, text))


def _place(s: ast.Import, folder: Path) -> Path:
    """`std/...` is the library's; other paths are relative to the importing file."""
    text = s.path.value
    if text.startswith(LIBRARY_PREFIX):
        return LIBRARY / text.removeprefix(LIBRARY_PREFIX)
    return folder / text


def _identity(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # a name that no file can have
        return path


def _source(path: Path, s: ast.Import, reading: _Reading) -> Source | None:
    """The text of the file; None after reporting that it cannot be read."""
    text = s.path.value
    shown = text if text.startswith(LIBRARY_PREFIX) else str(path)
    if path.suffix != SUFFIX:  # nothing else is read, nor shown in a message about it
        message = f"cannot import `{text}`: its name does not end in `{SUFFIX}`"
        reading.mistakes.append(Diagnostic(message, s.path.span, _nearest(s, path)))
        return None
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            message = f"cannot import `{text}`: it is a pipe or a device, not a file"
            reading.mistakes.append(Diagnostic(message, s.path.span))
            return None
        with path.open("rb") as file:
            raw = file.read(LARGEST_SOURCE + 1)
        return Source(shown, raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n"))
    except UnicodeDecodeError as failure:
        message, hint = f"`{text}` is not UTF-8 text (byte {failure.start})", None
    except (OSError, ValueError) as failure:
        reason = getattr(failure, "strerror", None) or str(failure)
        message, hint = f"cannot import `{text}`: {reason}", _nearest(s, path)
    reading.mistakes.append(Diagnostic(message, s.path.span, hint))
    return None


def _nearest(s: ast.Import, path: Path) -> str | None:
    """A file of that folder with a name like this one, or what the library has."""
    try:
        there = sorted(f.name for f in path.parent.glob(f"*{SUFFIX}"))
    except (OSError, ValueError):
        return None
    begin = s.path.value.rpartition("/")[0]
    close = did_you_mean(path.name, there)
    if close:
        name = close.removeprefix("did you mean `").removesuffix("`?")
        return f"did you mean `{begin}/{name}`?" if begin else close
    if s.path.value.startswith(LIBRARY_PREFIX):
        return "the library has " + ", ".join(f"`{LIBRARY_PREFIX}{name}`" for name in there)
    return None
