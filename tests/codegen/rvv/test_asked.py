"""RVV code asks before it writes: too short registers give an error code, where numbers would be wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hbc.cli.pipeline import features_of
from hbc.cli.prepare import choose, compile_chosen
from hbc.cli.runs.native import Native
from hbc.codegen.build import processor
from hbc.codegen.build.program import build_callable
from hbc.codegen.c.source import CSource
from hbc.ir.ground.diag import ToolError
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import F32

KERNEL = """\
kernel asked
size   N
input  A: f32[N]
output O: f32[N]
O[x] = A[x] * A[x] + 1.0
schedule wide for rvv { O.vectorize(x, 16) }
"""
Registers = Callable[[int], None]
LONG = {"rvv": 128, "rvv256": 256, "rvv512": 512}
SHORT = [("rvv256", 128), ("rvv512", 128), ("rvv512", 256)]


def source_of(target: str, fallback: str) -> CSource:
    file = Source("asked.hb", KERNEL)
    made = compile_chosen(choose(file, {}, target, None, fallback=fallback)).source
    assert isinstance(made, CSource)
    return made


def called(target: str, fallback: str, bits: int, folder: Path) -> bool:
    """Whether the results are right, on registers of so many bits."""
    library = build_callable(source_of(target, fallback), TARGETS[target], folder)
    a = np.random.default_rng(bits).uniform(-9, 9, 37).astype(np.float32)
    with Native(library, 1, 60) as native:
        found = native.call("asked", [37], {"A": a}, {"O": ((37,), F32)}, guarded=True).outputs
    return bool(np.allclose(found["O"], a * a + np.float32(1), rtol=1e-6))


@pytest.fixture
def registers(riscv: None, monkeypatch: pytest.MonkeyPatch) -> Registers:
    return lambda bits: monkeypatch.setenv("QEMU_CPU", f"rv64,v=true,vext_spec=v1.0,vlen={bits}")


@pytest.mark.parametrize(("target", "bits"), SHORT)
def test_short_registers_are_refused(
    target: str, bits: int, registers: Registers, tmp_path: Path
) -> None:
    registers(bits)
    with pytest.raises(ToolError, match="this processor has no zvl"):
        called(target, "error", bits, tmp_path)


@pytest.mark.parametrize(("target", "bits"), SHORT)
def test_short_registers_have_plain_loops(
    target: str, bits: int, registers: Registers, tmp_path: Path
) -> None:
    registers(bits)
    assert called(target, "scalar", bits, tmp_path)


@pytest.mark.parametrize("target", LONG)
@pytest.mark.parametrize("bits", [512, 1024])
def test_long_registers_serve(target: str, bits: int, registers: Registers, tmp_path: Path) -> None:
    registers(bits)
    assert called(target, "error", bits, tmp_path)


@pytest.mark.parametrize("target", LONG)
def test_every_length_is_asked_for(target: str) -> None:
    """Printed without tools: the features of a target are those of its table."""
    names = [f.name for f in features_of(TARGETS[target])]
    assert names == ["rvv", "zvl256b", "zvl512b"][: len(names)]
    assert [f.bit.leaf for f in features_of(TARGETS[target])][-1] == LONG[target]
    made = source_of(target, "error")
    assert all(f"asked_FEATURE_{name} = " in made.header for name in names)
    # What is asked before is compiled without vectors.
    assert made.text.index('target("arch=rv64gc")') < made.text.index("missing_feature(void)")


@pytest.mark.parametrize(
    ("isa", "runs"),
    [("rv64imafdc_zicsr", []), ("rv64imafdcv_zicsr_zvl128b", ["rvv"]),
     ("rv64imafdcv_zvl128b_zvl256b", ["rvv", "rvv256"])],
)  # fmt: skip
def test_what_linux_says(
    isa: str, runs: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said = tmp_path / "cpuinfo"
    said.write_text(
        f"processor\t: 0\nhart\t\t: 1\nisa\t\t: {isa}\nmmu\t\t: sv39\n", encoding="ascii"
    )
    monkeypatch.setattr(processor, "CPUINFO", said)
    found = processor.processor_features.__wrapped__()
    assert [t for t in LONG if found.issuperset(TARGETS[t].needs)] == runs
