"""Kernels that were compiled before, as they were: what decides the C is compared, nothing is guessed.

What is kept is the checked pipeline and the C. Its name is a digest of all that decides them: the text,
where the file lies, the settings, target, schedule, fallback and descriptions of instructions, what this
processor has, and hbc itself, by the content of its files. The files that a kernel imports are known
only after reading it; their texts lie in what is kept, and are compared with what the files say now.
Libraries are kept by their own text and compiler (`build_kept`).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from hbc.cli.compiled import NO_SCHEDULE, Chosen, Compiled
from hbc.cli.files.read_source import STDIN, is_sketch, read_source, source_name
from hbc.cli.machine import target_named
from hbc.cli.prepare import choose, compile_chosen
from hbc.cli.show.report import lines_shown
from hbc.codegen.build.processor import cpu_features
from hbc.codegen.c import source as c_source
from hbc.frontend.program import funcs
from hbc.ir.ground import source
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.record_json import classes_of, from_json, to_json
from hbc.ir.ground.source import Source
from hbc.ir.host.cache_folder import keep, kept
from hbc.ir.host.file_bytes import file_bytes
from hbc.ir.lang import instruction, nodes, target, types
from hbc.ir.lang.target import GPU, TARGETS

if TYPE_CHECKING:
    from hbc.frontend.program.funcs import Pipeline

MOST_BYTES = 1 << 26  # of a file of descriptions
_ROOT = Path(__file__).resolve().parents[1]
LIBRARY_PREFIX = "std/"  # of the names of what ships with hbc
_PARTS = ("cli", "codegen", "eqsat", "frontend", "ir", "synth")
_NO_SOURCES = frozenset({".pyc", ".pyo"})
_LIBRARIES = ("egglog", "lark", "ml_dtypes", "numpy")  # that have a say in what is compiled
_MODULES = (c_source, funcs, instruction, nodes, source, target, types)


def choose_kept(
    kernel: Path | Source, settings: Mapping[str, str], target_name: str | None, schedule: str | None,
    isa: tuple[Path, ...] = (), fallback: str = "error", fix_sizes: bool = False,
) -> tuple[Chosen, Callable[[], Compiled]]:  # fmt: skip
    """As `choose`, and what compiles it: both from what they gave for the same before, where that was
    kept. Where they have something to say, as warnings, nothing is kept, so that it is said each time."""
    target_named(target_name)  # a wrong command line is said before a wrong file
    start = time.perf_counter()
    asked = (settings, target_name, schedule, isa, fallback, fix_sizes)
    if isinstance(kernel, Path):
        if is_sketch(kernel) or str(kernel) == STDIN:
            chosen = choose(kernel, *asked)
            return chosen, lambda: compile_chosen(chosen)
        # Read once: what is compiled is what the name is made of.
        kernel = Source(source_name(kernel), read_source(kernel))
    name = f"kernel-{_key(kernel, *asked)}.json"
    kept = _found(name, isa, fallback)
    if kept is not None:
        ready = replace(kept, seconds=time.perf_counter() - start)
        return ready.chosen, lambda: ready
    before = lines_shown()
    chosen = choose(kernel, *asked)
    said = lines_shown() - before

    def compiled() -> Compiled:
        before = lines_shown()
        made = compile_chosen(chosen)
        if chosen.target.machine != GPU and not said and lines_shown() == before:
            kept_parts = (chosen.target.name, chosen.schedule_name, chosen.pipeline, made.source)
            keep(name, to_json(kept_parts).encode())
        return made

    return chosen, compiled


def _found(name: str, isa: tuple[Path, ...], fallback: str) -> Compiled | None:
    stored = kept(name)
    if stored is None:
        return None
    try:
        of, schedule, pipeline, made = from_json(stored.decode(), classes_of(_MODULES))
    except ValueError:
        return None
    if not _imports_are(pipeline):
        return None
    named = {s.name: s for s in pipeline.schedules}
    by = None if schedule == NO_SCHEDULE and schedule not in named else named[schedule]
    chosen = Chosen(pipeline, replace(TARGETS[of], isa=isa), by, fallback == "scalar")
    return Compiled(chosen, made, 0.0)


def _imports_are(p: Pipeline) -> bool:
    """Whether the imported files say what they said. Those of hbc's own library are part of hbc."""
    for one in p.imported:
        path = Path(one.name)
        if one.name.startswith(LIBRARY_PREFIX) and not path.exists():
            continue
        try:
            if read_source(path) != one.text:
                return False
        except HbcError:
            return False
    return True


def _key(
    kernel: Source, settings: Mapping[str, str], target_name: str | None, schedule: str | None,
    isa: tuple[Path, ...], fallback: str, fix_sizes: bool,
) -> str:  # fmt: skip
    described: list[list[str | None]] = []
    for path in isa:
        try:
            described.append([str(path), sha256(file_bytes(path, MOST_BYTES)).hexdigest()])
        except OSError:
            described.append([str(path), None])  # the loader says so
    decides = [
        kernel.name, str(Path.cwd()), kernel.text, list(settings.items()), target_name, schedule,
        described, fallback, fix_sizes, sorted(cpu_features()), sys.version, _versions(), hbc_digest(),
    ]  # fmt: skip
    return sha256(json.dumps(decides).encode("utf-8", "surrogatepass")).hexdigest()[:40]


def _versions() -> list[str]:
    versions = []
    for name in _LIBRARIES:
        try:
            versions.append(version(name))
        except PackageNotFoundError:
            versions.append("")
    return versions


def hbc_digest(root: Path = _ROOT) -> str:
    """A digest of hbc's own files: who changes one compiles anew."""
    key = sha256()
    for part in _PARTS:
        for path in sorted((root / part).rglob("*")):
            if path.suffix not in _NO_SOURCES and path.is_file():
                key.update(str(path.relative_to(root)).encode() + b"\0")
                key.update(sha256(path.read_bytes()).digest())
    return key.hexdigest()
