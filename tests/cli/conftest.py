"""Kernels, pipelines and command lines for the tests of the command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from hbc.cli.main import exit_code_of
from hbc.codegen.build import processor
from hbc.frontend.checks.check import check
from hbc.frontend.program.funcs import Pipeline
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source

GEMM = """
kernel gemm
size   M, N, K
input  A: f32[M, K]
input  B: f32[K, N]
output C: f32[M, N]
reduce k in K
C[i, j]  = 0
C[i, j] += A[i, k] * B[k, j]
example { M = 7; N = 5; K = 3; A = random(1); B = random(2, -1, 1) }
"""

BRIGHTEN = """
size   H, W
input  I: u8[H, W, 3]
output O: u8[H, W, 3]
O[y, x, c] = u8(clamp(i32(I[y, x, c]) + 50, 0, 255))
schedule rows for c { O.parallel(y) }
example { H = 9; W = 14; I = random(1) }
"""


@dataclass(frozen=True)
class Done:
    """What a command line did."""

    code: int
    out: str
    err: str


Command = Callable[..., Done]


@pytest.fixture(autouse=True)
def own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Reproducers of bugs go where nobody else looks."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def hbc(capfd: pytest.CaptureFixture[str]) -> Command:
    """Runs a command line in this process."""

    def command(*arguments: str | Path) -> Done:
        capfd.readouterr()
        code = exit_code_of([str(argument) for argument in arguments])
        said = capfd.readouterr()
        return Done(code, said.out, said.err)

    return command


@pytest.fixture
def hbc_process() -> Command:
    """Runs a command line in a process of its own, as a shell does."""

    def command(*arguments: str | Path, **environment: str) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "hbc.cli.main", *map(str, arguments)],
            capture_output=True, text=True, env=os.environ | environment, check=False,
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr)

    return command


@pytest.fixture
def pipeline() -> Callable[..., Pipeline]:
    """Makes a checked program from its text."""

    def made(text: str, **settings: str) -> Pipeline:
        return check(parse(Source("test.hb", text)), settings)

    return made


@pytest.fixture
def gemm(tmp_path: Path) -> Path:
    return _written(tmp_path / "gemm.hb", GEMM)


@pytest.fixture
def brighten(tmp_path: Path) -> Path:
    return _written(tmp_path / "brighten.hb", BRIGHTEN)


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def without_avx512(monkeypatch: pytest.MonkeyPatch) -> None:
    """This processor is said to have AVX2 and no more."""
    least = frozenset(processor.cpu_features() & {"avx2", "fma", "f16c", "bmi2"})
    if len(least) < 3:
        pytest.skip("the functions that stand for AVX-512 are made of AVX2")
    monkeypatch.setattr(processor, "cpu_features", lambda: least)
