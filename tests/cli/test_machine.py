"""Pins how a machine's description becomes a default target."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hbc.cli import machine
from hbc.codegen.build import processor
from hbc.ir.ground.diag import UsageError
from hbc.ir.lang.target import TARGETS

AVX2 = "flags\t\t: fpu sse2 fma avx avx2 f16c bmi2"
AVX512 = AVX2 + " avx512f avx512bw avx512dq avx512vl"


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    cached = (processor.processor_features, machine.cpu_name, machine.cache_bytes)
    for one in cached:
        one.cache_clear()
    yield
    for one in cached:
        one.cache_clear()


def describe(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """All that the file says is there, whatever this run does without."""
    monkeypatch.delenv("HBC_FEATURES", raising=False)
    for module in (machine, processor):
        monkeypatch.setattr(module, "CPUINFO", path)


@pytest.mark.parametrize(
    ("cpuinfo", "target"),
    [
        ("", "c"),
        ("flags\t\t: fpu sse2", "c"),
        ("Features\t: fp asimd asimddp", "c"),
        (AVX2, "avx2"),
        (AVX512, "avx512"),
        (AVX512.replace("avx512vl", ""), "avx2"),
    ],
)
def test_the_default_is_the_best_that_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cpuinfo: str, target: str
) -> None:
    (tmp_path / "cpuinfo").write_text(f"processor\t: 0\nmodel name\t: A CPU\n{cpuinfo}\n")
    describe(monkeypatch, tmp_path / "cpuinfo")
    assert machine.default_target().name == target
    assert machine.cpu_name() == "A CPU"


def test_unknown_systems_get_plain_c(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    describe(monkeypatch, tmp_path / "none")
    monkeypatch.setattr("platform.system", lambda: "Plan 9")
    assert machine.default_target().name == "c"
    assert machine.cpu_name()


def test_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    described = [("1", "Instruction", "64K"), ("1", "Data", "48K"), ("2", "Unified", "2M")]
    for number, (level, kind, size) in enumerate(described):
        folder = tmp_path / f"index{number}"
        folder.mkdir()
        for name, text in (("level", level), ("type", kind), ("size", size)):
            (folder / name).write_text(text + "\n")
    monkeypatch.setattr(machine, "CACHES", tmp_path)
    assert machine.cache_bytes() == {1: 48 << 10, 2: 2 << 20, 3: machine.USUAL_CACHES[3]}


def test_targets_by_name() -> None:
    assert machine.target_named("avx2") is TARGETS["avx2"]
    with pytest.raises(UsageError, match="did you mean `avx512`"):
        machine.target_named("avx-512")
