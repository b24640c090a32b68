"""Every sample on every target that this machine runs, at odd sizes, against the oracle.

Once as shipped, and every sample on every second of its targets (HBC_TEST_TABLES=whole: on each) once
more under the address and undefined-behaviour sanitizers; in both, memory behind the arrays faults.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from sample_table import FOLDER, SAMPLES, TYPES, Case, Types, cases, load
from suite_tables import WHOLE

from hbc.cli.files.sizes import extents
from hbc.cli.pipeline import choose_schedule, lower_to_kernel
from hbc.cli.runs.checking import check_outputs
from hbc.cli.runs.emulation import can_emulate
from hbc.cli.runs.instruction_error import with_instructions
from hbc.cli.runs.native import Native
from hbc.cli.runs.work import count_work
from hbc.codegen.build.amx_emulator import build_emulator
from hbc.codegen.build.processor import can_run, emulated_features
from hbc.codegen.build.program import for_this_processor
from hbc.codegen.build.toolchain import build
from hbc.codegen.c.file import emit_c
from hbc.codegen.c.source import CSource
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import TARGETS, X86

X86_TARGETS = [name for name, t in TARGETS.items() if t.machine in ("", X86)]
GENERAL = [name for name, t in TARGETS.items() if not t.instruction_sets]
LIMIT = 60.0  # seconds a call may take
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")


@pytest.fixture(scope="module")
def workers() -> Iterator[ThreadPoolExecutor]:
    """Two C compilers at a time."""
    with ThreadPoolExecutor(2) as pool:
        yield pool


def _pairs() -> list[tuple[str, str]]:
    """Every sample with every general target, and with those that its schedules name besides."""
    pairs = []
    for name in SAMPLES:
        text = (FOLDER / f"{name}.hb").read_text(encoding="utf-8")
        named = set(
            re.findall(r"\w+", " ".join(re.findall(r"^schedule \w+ for (.*)\{", text, re.M)))
        )
        pairs += [(name, t) for t in X86_TARGETS if t in GENERAL or t in named]
    return pairs


PAIRS = _pairs()
SANITIZED = PAIRS if WHOLE else PAIRS[::2]


@pytest.mark.parametrize(("name", "target"), PAIRS)
def test_sample(
    name: str, target: str, tmp_path: Path, workers: ThreadPoolExecutor,
    sanitizer_runtimes: str | None, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if not (can_run(TARGETS[target]) or can_emulate(TARGETS[target])):
        pytest.skip(f"this processor cannot run {target}, nor can an emulator here")
    types = TYPES.get((name, target), ())
    p = load(name, types)
    kernel = lower_to_kernel(p, choose_schedule(p, target, None), TARGETS[target])
    source = emit_c(kernel, TARGETS[target])
    emulate = bool(emulated_features(TARGETS[target], kernel.instructions))
    emulator = build_emulator() if emulate else None
    plain = _start(workers, source, target, emulate, tmp_path / "plain.so", False)
    sanitized = (name, target) in SANITIZED
    if sanitized:
        checked = _start(workers, source, target, emulate, tmp_path / "checked.so", True)
    given = cases(name, types, target)
    _run_cases(name, types, kernel, plain.result(), given, emulator)
    if not sanitized:
        return
    if sanitizer_runtimes is None:
        pytest.skip("the C compiler has no libasan: only the run as shipped was made")
    monkeypatch.setenv("LD_PRELOAD", sanitizer_runtimes)
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0:abort_on_error=0:handle_segv=0")
    _run_cases(name, types, kernel, checked.result(), given, emulator)


def _start(
    workers: ThreadPoolExecutor, source: CSource, target: str, emulate: bool, out: Path,
    sanitize: bool,
) -> Future[Path]:  # fmt: skip
    # The sanitizers' checks hide from gcc that a variable is always set.
    extra = () if sanitize else STRICT
    code, machine = for_this_processor(source, TARGETS[target], emulate=emulate)
    return workers.submit(build, code, machine, out, sanitize=sanitize, extra=extra)


def _run_cases(
    name: str, types: Types, kernel: Kernel, library: Path, given: Sequence[Case],
    emulator: Path | None,
) -> None:  # fmt: skip
    p = load(name, types)
    with Native(library, 2, LIMIT, emulator) as native:
        for case in given:
            shapes = {o.name: (extents(o, case.sizes), o.element) for o in p.outputs}
            sizes = [case.sizes[size.name] for size in p.sizes]
            called = native.call(kernel.name, sizes, case.inputs, shapes, guarded=True)
            operations = count_work(p, case.sizes).total
            expected = with_instructions(case.references, kernel.instructions, operations)
            found = check_outputs(called.outputs, expected)
            assert found.ok, (dict(case.sizes), found.mistakes)
