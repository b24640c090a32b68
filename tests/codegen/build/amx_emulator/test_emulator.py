"""The emulator as a library: counts, foreign signals, what programs learn about the processor."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from amx_machines import (
    HERE,
    Build,
    Machine,
    Workshop,
    emulator,
    has_hardware,
    is_x86_64_linux,
    known_compiler,
    run_alone,
    why_not,
)
from amx_program import KINDS, Program
from amx_random_programs import any_program

from hbc.codegen.build import amx_emulator
from hbc.codegen.build.amx_emulator import build_emulator, load_emulator
from hbc.codegen.build.amx_library import AmxFeature
from hbc.codegen.build.processor import processor_features
from hbc.ir.ground.diag import ToolError

NATIVE, TRAPPED = Build("native", "gcc"), Build("trapped", "gcc")

pytestmark = pytest.mark.skipif(
    not is_x86_64_linux() or why_not(TRAPPED) is not None, reason="needs gcc and x86-64 Linux"
)


@pytest.fixture(params=[TRAPPED, NATIVE], ids=str)
def way(request: pytest.FixtureRequest) -> Build:
    """What the emulator executes: code that is made to trap, and any where the processor has no AMX."""
    chosen: Build = request.param
    if chosen == NATIVE and has_hardware():
        pytest.skip("this processor has AMX, and executes what is not made to trap")
    return chosen


@pytest.fixture
def emulated(way: Build, workshop: Workshop) -> Machine:
    emulator().install()  # pytest's faulthandler may have come back since
    return workshop.machine(way)


def test_counts(emulated: Machine) -> None:
    program = any_program(3)
    emulator().reset_counts()
    assert emulator().counts() == dict.fromkeys(KINDS, 0)
    emulated.run(program)
    emulated.run(program)
    expected = Counter(step.kind for step in program.steps)
    assert emulator().counts() == {kind: 2 * expected[kind] for kind in KINDS}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_counts_of_a_program(workshop: Workshop, tmp_path: Path, compiler: str, way: Build) -> None:
    """With the emulator preloaded, as JSON; nothing is written without AMX."""
    build = Build(way.intrinsics, compiler)
    if reason := why_not(build):
        pytest.skip(reason)
    path, counts = workshop.program(build), tmp_path / "counts.json"
    empty = run_alone(path, Program(bytearray(1)), build, AMX_EMULATOR_COUNTS=str(counts))
    assert empty.returncode == 0
    assert not counts.exists()
    program = any_program(4)
    answer = run_alone(path, program, build, AMX_EMULATOR_COUNTS=str(counts))
    assert answer.stdout == workshop.machine(build).run(program)
    expected = Counter(step.kind for step in program.steps)
    assert json.loads(counts.read_text()) == {kind: expected[kind] for kind in KINDS}


# Per handler what the program prints, and how it ends. Each of three rounds prints the product 4
# and traps, or raises and goes on; then how many signals it caught, which ones were blocked in the
# handler (1 SIGILL, 2 SIGUSR1, which some handlers ask for), and whether its handler was hidden.
QUICK, TRIES = 0.8, 20
FOREIGN = {
    "none": ("4 ", -signal.SIGILL),
    "default": ("4 ", -signal.SIGILL),
    "raise": ("4 ", -signal.SIGILL),
    "ignore": ("4 on 4 on 4 ", -signal.SIGILL),
    "step": ("4 4 4 3 1 0", 0),
    "jump": ("4 4 4 3 3 0", 0),
    "open": ("4 4 4 3 2 0", 0),
    "once": ("4 4 ", -signal.SIGILL),
    "signal": ("4 on 4 on 4 on 3 1 0", 0),
}


@pytest.mark.parametrize("handler", FOREIGN)
@pytest.mark.parametrize("loading", ["loaded", "preloaded"])
def test_a_foreign_signal(workshop: Workshop, loading: str, handler: str, way: Build) -> None:
    """Goes to the handler that the program has installed, before or, when preloaded, after us."""
    gcc = known_compiler("gcc")
    options = ("-O1", "-D_GNU_SOURCE", *workshop.options(way.intrinsics))
    program = workshop.make(gcc, HERE / "signals.c", "signals", *options)
    library = str(build_emulator(gcc))
    preloaded = loading == "preloaded"
    answer = subprocess.run(
        [str(program), handler, *([] if preloaded else [library])],
        env={**os.environ, **({"LD_PRELOAD": library} if preloaded else {})},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (answer.stdout, answer.returncode) == FOREIGN[handler]


def test_what_a_program_learns(workshop: Workshop) -> None:
    """The emulator answers for a processor without AMX, and can stand for a lesser one; one with AMX
    answers for itself. Of code that is made to trap nobody asks."""
    emulator().install()
    assert workshop.machine(TRAPPED).library.features() == 15
    if reason := why_not(NATIVE):
        pytest.skip(reason)
    native = workshop.machine(NATIVE)
    if has_hardware():
        names = {"amx_tile": 1, "amx_int8": 2, "amx_bf16": 4, "amx_fp16": 8}
        found = sum(bit for name, bit in names.items() if name in processor_features())
        assert native.library.features() == found
        return
    try:
        for features in (AmxFeature(0), AmxFeature.TILE | AmxFeature.BF16, ~AmxFeature(0)):
            emulator().set_features(features)
            assert native.library.features() == features.value
    finally:
        emulator().set_features(~AmxFeature(0))


ABSENT = """
import ctypes, sys
from hbc.codegen.build.amx_emulator import load_emulator
from hbc.codegen.build.amx_library import AmxFeature
if sys.argv[2] == "loaded":
    load_emulator()
if sys.argv[2] == "lesser":
    emulator = load_emulator()
    emulator.install()
    emulator.set_features(AmxFeature.TILE)
library = ctypes.CDLL(sys.argv[1])
print(library.features(), flush=True)
config = bytes([1, 0] + 14 * [0] + 8 * [64, 0] + 16 * [0] + 8 * [16] + 8 * [0])
step = lambda *numbers: b"".join(n.to_bytes(8, "little") for n in numbers)
library.execute(config, step(0, 0, 0, 0, 0, 0), ctypes.c_long(1))
print("configured", flush=True)
library.execute(config, step(11, 0, 1, 2, 0, 0), ctypes.c_long(1))
"""


@pytest.mark.parametrize(
    ("how", "printed"), [("absent", "0\n"), ("loaded", "0\n"), ("lesser", "1\nconfigured\n")]
)
def test_without_the_instruction(emulated: Machine, how: str, printed: str) -> None:
    """A processor without AMX, an emulator that does not act, and one without bf16: SIGILL, and the
    program was told, unless it is made to trap."""
    if emulated.build == TRAPPED:
        printed = "15" + printed[1:]
    command = [sys.executable, "-c", ABSENT, emulated.library._name, how]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (answer.stdout, answer.returncode) == (printed, -signal.SIGILL)


AGAIN = """
import ctypes, faulthandler, sys
from hbc.codegen.build.amx_emulator import load_emulator
emulator = load_emulator()
emulator.install()
faulthandler.enable()
if sys.argv[2] == "again":
    emulator.install()
ctypes.CDLL(sys.argv[1]).execute(None, (2).to_bytes(48, "little"), ctypes.c_long(1))
print(emulator.counts()["tilerelease"])
"""


@pytest.mark.parametrize(("how", "printed"), [("once", ""), ("again", "1\n")])
def test_behind_another_handler(emulated: Machine, how: str, printed: str) -> None:
    """Python's faulthandler takes the signal, until the emulator is installed again."""
    command = [sys.executable, "-c", AGAIN, emulated.library._name, how]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (answer.stdout, answer.returncode) == (printed, 0 if printed else -signal.SIGILL)


def test_the_soft_header_has_everything(workshop: Workshop) -> None:
    assert workshop.machine(Build("soft", "gcc")).library.features() == 15


@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_no_warnings(workshop: Workshop, compiler: str, level: str) -> None:
    if reason := why_not(Build("native", compiler)):
        pytest.skip(reason)
    source = amx_emulator.TEMPLATES / "amx_emulator.c"
    options = (level, "-fPIC", "-shared", "-Wshadow", "-Wcast-qual")
    workshop.make(known_compiler(compiler), source, "emulator.so", *options)


def test_speed(workshop: Workshop) -> None:
    """512^3 bf16 in well under a second of processor time, the least of some: others use this machine, and
    0.2 s were measured."""
    emulator().install()
    gcc = known_compiler("gcc")
    options = ("-O2", "-fPIC", "-shared", *workshop.options("trapped"))
    library = ctypes.CDLL(str(workshop.make(gcc, HERE / "gemm.c", "gemm.so", *options)))
    rng = np.random.default_rng(5)
    size = 512
    values = rng.integers(-8, 9, (2, size, size)).astype(np.float32)
    a, b = (values.view(np.uint32) >> 16).astype(np.uint16)
    b = np.ascontiguousarray(b.reshape(size // 2, 2, size).transpose(0, 2, 1))
    c = np.zeros((size, size), np.float32)
    taken = []
    while len(taken) < TRIES and not (taken and min(taken) < QUICK):
        c[...] = 0
        start = time.process_time()
        library.gemm(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)), ctypes.c_long(size))
        taken.append(time.process_time() - start)
        assert np.array_equal(c, values[0] @ values[1])
    assert min(taken) < QUICK


def test_the_packing_buffer_is_filled_twice(workshop: Workshop) -> None:
    """gcc 12 drops the first filling when it uses its own intrinsics."""
    emulator().install()
    gcc = known_compiler("gcc")
    options = ("-O2", "-fPIC", "-shared", *workshop.options("trapped"))
    library = ctypes.CDLL(str(workshop.make(gcc, HERE / "gemm.c", "gemm.so", *options)))
    assert library.ones_times_twos() == 128


def test_it_is_built_once() -> None:
    assert build_emulator() == build_emulator()
    assert load_emulator().path.exists()


def test_other_systems_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(amx_emulator.platform, "machine", lambda: "aarch64")
    with pytest.raises(ToolError, match="the AMX emulator needs x86-64 Linux, this is aarch64"):
        build_emulator()


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/nowhere/cc")
    with pytest.raises(ToolError, match="named by CC, does not run"):
        build_emulator()
