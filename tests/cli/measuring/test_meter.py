"""Candidates that crash, hang, are wrong or take too much memory: each ends only itself, and is named."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from random import Random

import pytest

from hbc.cli.files.inputs import choose_example, gather_inputs
from hbc.cli.measuring import meter as metering
from hbc.cli.measuring.expected import Expected
from hbc.cli.measuring.job import Job
from hbc.cli.measuring.measured_on import this_machine
from hbc.cli.measuring.meter import NativeMeter
from hbc.cli.measuring.racing import race
from hbc.cli.measuring.trial import Built, Candidate, Failure, State
from hbc.cli.runs.work import count_work
from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

COMPILER = shutil.which("gcc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(
    COMPILER is None or sys.platform != "linux", reason="needs a C compiler and limits of Linux"
)
KERNEL = """\
size   N
input  A: f32[N]
output B: f32[N]
B[i] = A[i] * 2
example { N = 64; A = random(1) }
"""
HEAD = "#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n"
RIGHT = "for (int64_t i = 0; i < n; i++) b[i] = a[i] * 2; return 0;"
BODIES = {
    "right": RIGHT,
    "wrong": "for (int64_t i = 0; i < n; i++) b[i] = a[i] * 2; b[n - 1] += 1; return 0;",
    "untouched": "return 0;",
    "crashes": "*(volatile int *)8 = 1; return 0;",
    "hangs": "for (volatile int x = 0;; x++) {} return 0;",
    "hoards": "char *p = malloc((size_t)1 << 36); if (!p) abort(); memset(p, 1, 64); " + RIGHT,
    "refuses": "return 7;",
    "crashes_later": "static int calls; if (calls++ > 2) abort(); " + RIGHT,
    "scaled": RIGHT.replace("2", "f"),
    "wrong_elsewhere": "if (n % 8) return 0; " + RIGHT,
    "refuses_elsewhere": "if (n % 8) return 7; " + RIGHT,
    "reads_behind": "volatile float x = a[n | 7]; (void)x; " + RIGHT,
    "writes_behind": "if (n % 8) b[n] = 0; " + RIGHT,
}
ELSEWHERE = {
    "right": None, "wrong_elsewhere": State.WRONG, "refuses_elsewhere": State.REFUSED,
    "reads_behind": State.CRASHED, "writes_behind": State.CRASHED,
}  # fmt: skip
ENDS = {
    "wrong": State.WRONG, "untouched": State.WRONG, "crashes": State.CRASHED, "hangs": State.HUNG,
    "hoards": State.CRASHED, "refuses": State.REFUSED, "crashes_later": State.CRASHED,
}  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Built]:
    """A library for each body."""
    folder, found = tmp_path_factory.mktemp("bodies"), {}
    assert COMPILER is not None
    for name, body in BODIES.items():
        takes = "int64_t n, const float *a, float f, float *b"
        takes = takes if name == "scaled" else takes.replace(" float f,", "")
        passes = ", ".join(word.split()[-1].strip("*") for word in takes.split(","))
        text = f"{HEAD}int k({takes}) {{ {body} }}\n"
        text += f"int k_strided({takes}) {{ return k({passes}); }}\n"
        text += 'const char *k_strerror(int code) { return "no"; }\n'
        (folder / f"{name}.c").write_text(text, encoding="ascii")
        out = folder / f"{name}.so"
        command = [
            COMPILER,
            "-O1",
            "-w",
            "-fPIC",
            "-shared",
            str(folder / f"{name}.c"),
            "-o",
            str(out),
        ]
        subprocess.run(command, check=True, timeout=60)
        schedule = f"schedule x for c {{\n    # {name}\n    B.unroll(i, 2)\n}}\n"
        candidate = Candidate({"body": name}, schedule, name, None)
        found[name] = Built(candidate, str(out), "k", False)
    return found


def job_of(text: str) -> Job:
    p = check(parse(Source("k.hb", text)), {}, False)
    run = gather_inputs(p, {}, choose_example(p, None), {})
    return Job(p, TARGETS["c"], {}, run, count_work(p, run.sizes), 1, this_machine())


@pytest.fixture
def meter(monkeypatch: pytest.MonkeyPatch) -> Iterator[NativeMeter]:
    monkeypatch.setattr(metering, "FIRST_TIMEOUT", 5.0)
    job = job_of(KERNEL)
    with NativeMeter(job, Expected(job)) as found:
        yield found


@pytest.mark.parametrize("name", [n for n in ENDS if n != "crashes_later"])
def test_each_ends_by_itself(name: str, built: dict[str, Built], meter: NativeMeter) -> None:
    failure = meter.begin(built[name], None)
    assert isinstance(failure, Failure)
    assert failure.state is ENDS[name], failure
    assert failure.reason


@pytest.mark.parametrize("name", ELSEWHERE)
def test_right_where_it_is_tuned_and_at_odd_sizes(
    name: str, built: dict[str, Built], meter: NativeMeter
) -> None:
    """All are right at the tuned size, of which nobody sees what lies behind an array."""
    assert meter.begin(built[name], None) is None
    meter.end(built[name])
    failure = meter.elsewhere(built[name])
    assert (None if failure is None else failure.state) is ELSEWHERE[name], failure
    assert failure is None or failure.reason.startswith("at N = ")


def test_scalars_are_values(built: dict[str, Built]) -> None:
    text = KERNEL.replace("output", "input  f: f32\noutput").replace("* 2", "* f")
    job = job_of(text.replace("random(1)", "random(1); f = 3"))
    with NativeMeter(job, Expected(job)) as meter:
        assert meter.begin(built["scaled"], None) is None
        assert meter.elsewhere(built["scaled"]) is None


def test_the_right_one_wins_whatever_the_others_do(
    built: dict[str, Built], meter: NativeMeter
) -> None:
    named = ["wrong", "crashes", "right", "crashes_later", "refuses"]
    trials, _ = race(meter, [built[n] for n in named], None, Random(0))
    states = {str(t.candidate.point["body"]): t.state for t in trials}
    assert states == {n: ENDS.get(n, State.MEASURED) for n in named}
    assert [t.seconds is not None for t in trials] == [n == "right" for n in named]


def test_a_call_of_no_time_does_not_count(
    meter: NativeMeter, built: dict[str, Built], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert meter.begin(built["right"], None) is None
    monkeypatch.setattr(metering.Native, "again", lambda *_: (0.0, 2e-6, 3e-6))
    assert meter.window(built["right"]) == 2e-6
    monkeypatch.setattr(metering.Native, "again", lambda *_: (0.0,))
    assert isinstance(meter.window(built["right"]), Failure) and not meter._running
