"""Pins that costs are measured by programs made of the descriptions, that these execute what they count, and
that what is measured makes sense."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from hbc.cli.asked_machine import costs_in, costs_text, kept_costs
from hbc.cli.instruction_set import instruction_set
from hbc.cli.roof import costs, team
from hbc.cli.roof.cost_programs import KINDS, is_tile, per_round, program, sums_of
from hbc.cli.runs.native import Native, Repeat
from hbc.cli.show.report import Progress
from hbc.codegen.build.amx_emulator import build_emulator, is_possible
from hbc.codegen.build.processor import cpu_features, processor_features
from hbc.codegen.build.toolchain import all_compilers, build, find_compiler
from hbc.codegen.c.source import CSource
from hbc.codegen.text.instruction_text import compile_flags
from hbc.frontend.costs.machine_costs import MachineCosts
from hbc.ir.ground.diag import ToolError
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.target import ARM, GPU, TARGETS

PROCESSORS = [i for i in instruction_set().instructions if i.place.machine != GPU]
TILES = [i for i in PROCESSORS if is_tile(i)]
ONCE = Repeat(least=1, most=1)


def library(instructions: list[Instruction], folder: Path, kind: str) -> Path:
    compiler = next((c for c in all_compilers() if c.kind == kind), None)
    if compiler is None:
        pytest.skip(f"no {kind}")
    source = CSource(
        "costs", program(instructions, kind), "", flags=tuple(compile_flags(instructions))
    )
    return build(source, TARGETS["c"], folder / "costs.so", compiler=compiler)


@pytest.mark.parametrize("kind", ["gcc", "clang"])
def test_every_described_instruction_has_its_program(kind: str, tmp_path: Path) -> None:
    """It compiles, also where this processor could not execute it."""
    if platform.machine() != "x86_64":
        pytest.skip("not an x86-64 processor")
    own = [i for i in PROCESSORS if i.place.machine == "x86_64"]
    assert len(own) > 30 and TILES
    made = library(own, tmp_path, kind)
    symbols = subprocess.run(["nm", "-D", made], capture_output=True, text=True, check=True).stdout
    for i in own:
        assert all(f" {kind}_{i.name}\n" in symbols for kind in KINDS)


@pytest.mark.parametrize("compiler", ["aarch64-linux-gnu-gcc"])
def test_those_of_arm_run_under_an_emulator(compiler: str, tmp_path: Path) -> None:
    for tool in (compiler, "qemu-aarch64"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool}")
    own = [i for i in PROCESSORS if i.place.machine == ARM]
    calls = "".join(f"failed |= {kind}_{i.name}(3);" for i in own for kind in KINDS)
    text = program(own, "gcc") + f"int main(void) {{ int failed = 0; {calls} return failed; }}\n"
    (tmp_path / "costs.c").write_text(text, encoding="ascii")
    files = [str(tmp_path / "costs.c"), "-o", str(tmp_path / "costs")]
    flags = ["-O3", "-Wall", "-Wextra", "-Werror", "-static", *compile_flags(own)]
    subprocess.run([compiler, *flags, *files], check=True)
    subprocess.run(["qemu-aarch64", "-cpu", "max", str(tmp_path / "costs")], check=True)


@pytest.mark.parametrize("kind", ["gcc", "clang"])
def test_tiles_execute_what_is_counted(kind: str, tmp_path: Path) -> None:
    if not is_possible():
        pytest.skip("the AMX emulator needs x86-64 Linux")
    if "amx_tile" in processor_features():
        pytest.skip("this processor executes AMX itself: nothing is counted")
    made = library(TILES, tmp_path, kind)
    for i in TILES:
        assert sums_of(i) == 6
        for function in KINDS:
            with Native(made, 1, 120.0, build_emulator()) as native:
                native.time(f"{function}_{i.name}", [3], [], ONCE)
                each = 1 if function == "cycles" else per_round(i, function)
                counts = {n: k for n, k in native.emulated.items() if n.startswith("tdp")}
                assert counts == {i.name: 3 * each}
                assert native.emulated["tilerelease"] == 1


def test_tiles_that_are_not_permitted_stay_as_described(tmp_path: Path) -> None:
    if platform.machine() != "x86_64" or sys.platform != "linux":
        pytest.skip("only x86-64 Linux has AMX")
    if "amx_tile" in processor_features():
        pytest.skip("this processor has AMX, and the system permits it")
    assert costs.measure_instructions(TILES[:1], tmp_path) == ()


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> MachineCosts:
    try:
        find_compiler()
    except ToolError as missing:
        pytest.skip(str(missing))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HBC_CACHE", str(tmp_path_factory.mktemp("cache")))
        # Short: only whether the numbers make sense is asked here, on however busy a machine.
        patch.setattr(team, "REPEAT", Repeat(least=2, most=2))
        patch.setattr(team, "BYTES_PER_CALL", 1 << 24)
        patch.setattr(costs, "ALIKE", 1.3)
        found = costs.measured_costs(Progress(None))
        assert kept_costs() == found
        return found


def test_what_is_measured_makes_sense(measured: MachineCosts) -> None:
    assert [level.name for level in measured.levels] == ["L1", "L2", "L3", "DRAM"]
    assert all(0.1 < x < 1000 for level in measured.levels for x in (level.loads, level.stores))
    assert {name for name, _ in measured.instructions} <= {i.name for i in costs.here()}
    assert set(measured.features) <= cpu_features()
    for _, cost in measured.instructions:
        assert 1 <= cost.latency <= 100 and 0.01 <= cost.per_cycle <= 8
        assert cost.per_cycle * cost.latency >= 0.8  # a chain is not faster than what is apart


def test_what_is_measured_is_written_and_read(measured: MachineCosts) -> None:
    assert costs_in(costs_text(measured)) == measured


@pytest.mark.parametrize(
    ("cycles", "known"), [(4.1, 4.0), (3.9, 4.0), (4.4, 4.4), (0.98, 1.0), (16.7, 17.0), (1.5, 1.5)]
)
def test_processors_count_whole_cycles(cycles: float, known: float) -> None:
    assert costs.whole(cycles) == known


@pytest.mark.parametrize(
    ("cycles", "known"), [(0.51, 2.0), (1.02, 1.0), (16.3, 0.0625), (0.34, 3.0), (0.7, 1.43)]
)
def test_how_many_begin_in_a_cycle(cycles: float, known: float) -> None:
    assert costs.per_cycle(cycles) == known


def test_a_busy_machine_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was never seen twice is no cost."""
    seen = iter(1.0 / n for n in range(1, 10_000))  # never the same

    class Busy:
        def time(self, *_: object) -> tuple[float, ...]:
            return (next(seen),)

    monkeypatch.setattr(costs, "MOST_ROUNDS", 5)
    with pytest.raises(costs.Busy):
        costs._least(cast(Native, Busy()), PROCESSORS[0], {"apart": 1})
