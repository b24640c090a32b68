"""Kernels that were compiled before, as they were: what decides the C is compared, nothing is guessed.

What is kept is the checked pipeline, the schedule (the file's or one that hbc made), the C, and what was
said on the way, which is said again. Its name is a digest of all that decides them: the text,
where the file lies, the settings, target, schedule, fallback and descriptions of instructions, what this
processor has, the costs that are asked for, the user's library of movements, and hbc itself, by the content
of its files. The files that a kernel imports are known only after reading it; their texts lie in what is
kept, and are compared with what the files say now.
Libraries are kept by their own text and compiler (`build_kept`).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from hbc.cli.compiled import Chosen, Compiled
from hbc.cli.files.read_source import STDIN, is_sketch, read_source, source_name
from hbc.cli.machine import target_named
from hbc.cli.own.installed import hbc_digest, library_versions
from hbc.cli.own.own_files import own_digest
from hbc.cli.show.arch_option import asked_archs
from hbc.cli.show.machine_option import NONE, asked_machine
from hbc.cli.show.report import Said, heard, say_again
from hbc.codegen.build.processor import cpu_features
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.record_json import LateClasses, from_json, to_json
from hbc.ir.ground.source import Source
from hbc.ir.host.cache_folder import keep, kept
from hbc.ir.host.file_bytes import file_bytes
from hbc.ir.lang.target import GPU, TARGETS

if TYPE_CHECKING:
    from hbc.frontend.program.funcs import Pipeline

MOST_BYTES = 1 << 26  # of a file of descriptions
LIBRARY_PREFIX = "std/"  # of the names of what ships with hbc
# Whose classes are kept. What is met in none, such as tensor instructions, is not imported.
_CLASSES = LateClasses(
    f"hbc.{name}"
    for name in (
        "codegen.c.source", "codegen.cuda.source", "frontend.program.funcs", "ir.ground.diag",
        "ir.ground.source", "ir.lang.instruction", "ir.lang.nodes", "ir.lang.operators",
        "ir.lang.target", "ir.lang.types",
    )
)  # fmt: skip


def choose_kept(
    kernel: Path | Source, only: str | None, settings: Mapping[str, str], target_name: str | None,
    schedule: str | None, isa: tuple[Path, ...] = (), fallback: str = "error", fix_sizes: bool = False,
) -> tuple[Chosen, Callable[[], Compiled]]:  # fmt: skip
    """As `choose`, of the kernel called `only`, and what compiles it: both from what they gave for the same
    before, where that was kept. What they had to say, as warnings, is said each time."""
    target_named(target_name)  # a wrong command line is said before a wrong file
    start = time.perf_counter()
    asked = (settings, target_name, schedule, isa, fallback, fix_sizes)
    if isinstance(kernel, Path):
        if is_sketch(kernel) or str(kernel) == STDIN:
            from hbc.cli.prepare import choose

            chosen = choose(_alone(kernel, only), *asked)
            return chosen, lambda: _compile(chosen)
        # Read once: what is compiled is what the name is made of.
        kernel = Source(source_name(kernel), read_source(kernel))
    name = f"kernel-{_key(kernel, only, *asked)}.json"
    found = _found(name, isa, fallback)
    if found is not None:
        known, choosing, compiling = found
        say_again(choosing)
        ready = replace(known, seconds=time.perf_counter() - start)

        def read() -> Compiled:
            say_again(compiling)
            return ready

        return ready.chosen, read
    from hbc.cli.prepare import choose  # here, and below: a kernel that was kept does without

    with heard() as chose:
        chosen = choose(_alone(kernel, only), *asked)

    def compiled() -> Compiled:
        with heard() as compiling:
            made = _compile(chosen)
        said = tuple(chose), tuple(compiling)
        parts = (chosen.target.name, chosen.schedule, chosen.pipeline, made.source, *said)
        keep(name, to_json(parts).encode())
        return made

    return chosen, compiled


def _alone(kernel: Path | Source, only: str | None) -> Path | Source:
    from hbc.cli.files.one_kernel import one_kernel

    return one_kernel(kernel, only)


def _compile(chosen: Chosen) -> Compiled:
    from hbc.cli.prepare import compile_chosen

    return compile_chosen(chosen)


def _machine_text() -> str:
    """What decides a choice by the costs of a machine that is asked for."""
    if asked_machine() in (None, NONE):
        return ""
    from hbc.cli.asked_machine import machine_text

    return machine_text()


def _archs_text(target_name: str | None) -> str:
    """What decides which instructions an automatic schedule for a GPU may take."""
    if target_name is None or TARGETS[target_name].machine != GPU:
        return ""
    from hbc.codegen.build.gpu import gpu_archs

    return ",".join(gpu_archs(asked_archs()))


def _found(
    name: str, isa: tuple[Path, ...], fallback: str
) -> tuple[Compiled, tuple[Said, ...], tuple[Said, ...]] | None:
    """What was kept, with what was said in choosing and in compiling."""
    stored = kept(name)
    if stored is None:
        return None
    try:
        of, schedule, pipeline, made, *said = from_json(stored.decode(), _CLASSES)
    except ValueError:
        return None
    if not _imports_are(pipeline):
        return None
    chosen = Chosen(pipeline, replace(TARGETS[of], isa=isa), schedule, fallback == "scalar")
    return Compiled(chosen, made, 0.0), said[0], said[1]


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
    kernel: Source, only: str | None, settings: Mapping[str, str], target_name: str | None,
    schedule: str | None, isa: tuple[Path, ...], fallback: str, fix_sizes: bool,
) -> str:  # fmt: skip
    described: list[list[str | None]] = []
    for path in isa:
        try:
            described.append([str(path), sha256(file_bytes(path, MOST_BYTES)).hexdigest()])
        except OSError:
            described.append([str(path), None])  # the loader says so
    decides = [
        kernel.name, str(Path.cwd()), kernel.text, kernel.whole, only, list(settings.items()),
        target_name, schedule, described, fallback, fix_sizes, sorted(cpu_features()), sys.version,
        library_versions(), hbc_digest(), own_digest(), _machine_text(),
        _archs_text(target_name),
    ]  # fmt: skip
    return sha256(json.dumps(decides).encode("utf-8", "surrogatepass")).hexdigest()[:40]
