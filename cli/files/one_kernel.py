"""Which kernel of a file is meant, and the kernels of several files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from hbc.cli.files.read_source import STDIN, is_sketch, read_source, source_name
from hbc.frontend.text import ast
from hbc.frontend.text.kernels import alone, each, kernels
from hbc.ir.ground.diag import Diagnostic, HbcError, UsageError, did_you_mean
from hbc.ir.ground.source import Source, Span


def one_kernel(file: Path | Source, name: str | None) -> Path | Source:
    """What a command about one kernel reads: the file, or, of several kernels in it, the one of that name
    alone. UsageError where it is not said which, or where there is none of that name; HbcError with
    mistakes of syntax. A file that cannot be read is left to who reads it next."""
    if isinstance(file, Source):
        source = file
    else:
        try:
            source = _read(file)
        except HbcError:
            return file
    names = [k.name.text for k in kernels(source)]
    if not names:
        if name is not None:
            _require_named(source, name)
        return source if str(file) == STDIN else file
    if name is None and len(names) > 1:
        listed = ", ".join(f"`{n}`" for n in names)
        hint = f"say which, such as `--kernel {names[0]}`: the file has {listed}"
        raise UsageError(Diagnostic(f"`{source.name}` has {len(names)} kernels", hint=hint))
    if name is not None and name not in names:
        listed = ", ".join(f"`{n}`" for n in names)
        hint = did_you_mean(name, names) or f"the file has {listed}"
        raise UsageError(Diagnostic(f"no kernel `{name}` in `{source.name}`", hint=hint))
    return alone(source, names[0] if name is None else name)


def all_kernels(files: Iterable[Path]) -> list[Path | Source]:
    """Each kernel of the files alone, in their order; HbcError with mistakes of syntax."""
    sources: list[Path | Source] = []
    for file in files:
        if is_sketch(file):
            sources.append(file)
            continue
        sources += each(_read(file))
    return sources


def settings_for(
    kernel: Path | Source, among: Iterable[Path | Source], settings: Mapping[str, str]
) -> dict[str, str]:
    """The settings without those that only others among these kernels know. One that none knows stays, so
    that it is said."""
    own = _settable(kernel)
    others = {n for one in among for n in _settable(one)}
    return {n: text for n, text in settings.items() if n in own or n not in others}


def name_in(source: Source) -> tuple[str, Span]:
    """What the kernel of a source is called, and where the source says so: at its beginning, where it does
    not."""
    from hbc.frontend.checks.names import name_of_file
    from hbc.frontend.text.parse import parse

    for s in parse(source).statements:
        if isinstance(s, ast.Kernel):
            return s.name.text, s.name.span
    return name_of_file(source.name), Span(source, 0, 0)


def _read(file: Path) -> Source:
    return Source(source_name(file), read_source(file))


def _require_named(source: Source, name: str) -> None:
    own, _ = name_in(source)
    if own != name:
        hint = f"its kernel is `{own}`"
        raise UsageError(Diagnostic(f"no kernel `{name}` in `{source.name}`", hint=hint))


def _settable(kernel: Path | Source) -> set[str]:
    """The names of its sizes, params and types."""
    from hbc.frontend.expand.imports import with_imports
    from hbc.frontend.text.parse import parse

    if isinstance(kernel, Path):
        return set()
    file = parse(kernel)
    with suppress(HbcError):  # which is said where it is compiled
        file = with_imports(file)
    names: set[str] = set()
    for s in file.statements:
        if isinstance(s, ast.Sizes):
            names |= {n.text for n in s.names}
        elif isinstance(s, ast.Param | ast.TypeParam):
            names.add(s.name.text)
    return names
