"""`hbc tune --workers` with a scheduler and workers that are processes, one of which is killed."""

from __future__ import annotations

import json
import shutil
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_cluster import Cluster, local_cluster
from tuning_fakes import GEMM, QUICK, tuned

from hbc.cli.fleet import fleet, told
from hbc.cli.fleet.crew import Crew
from hbc.cli.main import exit_code_of
from hbc.codegen.build.processor import can_run
from hbc.ir.lang.target import TARGETS

pytest.importorskip("distributed")
pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None or sys.platform == "win32",
    reason="needs gcc, and processes to kill",
)
# The operands of the instruction are exchanged: what is unsigned counts as signed.
EXCHANGED = """
instruction exchanged(c: i32[16], a: u8[16, 4], b: i8[16, 4]) in zmm {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = _mm512_dpbusd_epi32({c}, {b}, {a});"
cost { latency 1; per_cycle 8 }
needs avx512f, avx512vnni
"""
BYTES = """\
size   M, N, K
input  A: u8[M, K]
input  B: i8[K / 4, N, 4]
output C: i32[M, N]
require K % 4 == 0, "groups of four"
reduce k in K
acc[i, j]  = 0
acc[i, j] += i32(A[i, k]) * i32(B[k / 4, j, k % 4])
C[i, j]    = acc[i, j]
schedule plain for avx512vnni { C.vectorize(j, 16) }
example { M = 8; N = 32; K = 16; A = random(1); B = random(2) }
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with local_cluster(tmp_path_factory.mktemp("cluster"), 3) as made:
        yield made


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known from other runs, and a batch is as many as there are workers."""
    monkeypatch.setattr("hbc.cli.fleet.track.BATCH", 1)
    monkeypatch.setattr("hbc.cli.tuning.tune.LEAST_DROPS", float("inf"))  # it stays long
    monkeypatch.setenv("HBC_CACHE", str(tmp_path_factory.mktemp("cache")))


def kernel(folder: Path, text: str) -> Path:
    path = folder / "kernel.hb"
    path.write_text(text, encoding="utf-8")
    return path


def test_one_of_three_workers_is_killed(
    cluster: Cluster, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it has a request: another worker takes it, and the journal has a line for each schedule."""
    journal, killed = tmp_path / "found.jsonl", []

    def submit(crew: Crew, key: str, bundle: dict, request: dict, address: str, until: float):
        future = real(crew, key, bundle, request, address, until)
        if not killed and request["best"] is None and len(request["candidates"]) == 2:
            killed.append(address)
            threading.Timer(0.1, cluster.workers[address].kill).start()
        return future

    real = Crew._submit
    monkeypatch.setattr(Crew, "_submit", submit)
    text = GEMM.replace("A[i, k] * B[k, j]", "times(A[i, k], B[k, j])")
    path = kernel(tmp_path, f'import "times.hb"\n{text}')
    (tmp_path / "times.hb").write_text("def times(a, b) = a * b\n", encoding="utf-8")
    options = (path, *QUICK, "--trials", "4", "--strategy", "random", "--journal", journal)
    found, err = tuned(capsys, *options, "--workers", cluster.address)
    left = set(cluster.workers) - set(killed)
    assert found["stopped"] == "trials" and found["tried"] == 4 and len(killed) == 1
    assert found["states"]["measured"] + found["states"]["refused"] == 4, found["trials"]
    assert found["states"]["measured"] >= 2 and found["best"]["seconds"] > 0
    assert {t["worker"] for t in found["trials"]} == left
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert len({line["key"] for line in lines}) == len(lines) == 4
    assert all(line["cpu"] and line["worker"] in left for line in lines)
    assert "3 workers are on 127.0.0.1, and measure beside each other" in err
    again, _ = tuned(capsys, *options, "--workers", cluster.address, "--fresh", "--write")
    assert again["from_other_runs"] == 4
    assert "# Tuned on " in path.read_text(encoding="utf-8")
    assert exit_code_of(["verify", str(path), "--trials", "1", "--target", QUICK[-1]]) == 0


@pytest.mark.skipif(not can_run(TARGETS["avx512vnni"]), reason="needs AVX-512 VNNI")
def test_what_is_wrong_there_is_discarded(cluster: Cluster, tmp_path: Path, capsys) -> None:
    isa = tmp_path / "exchanged.hb"
    isa.write_text(EXCHANGED, encoding="utf-8")
    options = ("--target", "avx512vnni", "--isa", isa, "--trials", "3", "--time", "200")
    path = kernel(tmp_path, BYTES)
    found, _ = tuned(capsys, path, *options, "--workers", cluster.address)
    states = [t["state"] for t in found["trials"]]
    assert "wrong" in states and found["best"]["about"] == "schedule plain of the file"


def test_another_hbc_is_refused_with_both_versions(
    cluster: Cluster, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = told.own_version()
    monkeypatch.setattr(told, "hbc_digest", lambda: "0123456789")
    path = kernel(tmp_path, GEMM)
    _, err = tuned(capsys, path, *QUICK, "--workers", cluster.address, code=4)
    version = own.split()[0]
    assert f"hbc {own} there, {version} (01234567) here" in err
    assert "install the same hbc" in err


def test_all_are_gone(
    cluster: Cluster, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a first batch: its best is printed, and not written, as it was not compared at other sizes."""

    def there(crew: Crew) -> list[str]:
        if len(submitted) > 3:
            for child in cluster.workers.values():
                child.kill()
        return real(crew)

    def submit(*arguments: object) -> object:
        submitted.append(arguments)
        return submitting(*arguments)

    submitted: list[object] = []
    real, submitting = Crew.there, Crew._submit
    monkeypatch.setattr(Crew, "there", there)
    monkeypatch.setattr(Crew, "_submit", submit)
    monkeypatch.setattr("hbc.cli.fleet.crew.GONE", 0.5)
    path = kernel(tmp_path, GEMM)
    options = (*QUICK, "--trials", "20", "--workers", cluster.address, "--write")
    found, err = tuned(capsys, path, *options, code=4)
    assert found["stopped"] == "workers" and found["best"]["seconds"] > 0
    assert "no worker of" in err and "is left" in err
    assert path.read_text(encoding="utf-8") == GEMM
    monkeypatch.setattr(fleet, "GONE", 0.5)
    _, err = tuned(capsys, path, *QUICK, "--workers", cluster.address, code=4)
    assert f"the scheduler `{cluster.address}` has no workers" in err


def test_nobody_answers(tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet, "CONNECTING", 0.5)
    with socket.socket() as taken:  # by one that never answers
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        _, err = tuned(capsys, kernel(tmp_path, GEMM), *QUICK, "--workers", address, code=4)
    assert err.startswith(f"error: cannot reach the scheduler `{address}`: ")
    assert "hint: `dask scheduler` starts one" in err and len(err.splitlines()) == 2
    _, err = tuned(capsys, kernel(tmp_path, GEMM), *QUICK, "--workers", "spider://x", code=4)
    assert "cannot reach the scheduler `spider://x`: " in err


def test_without_dask(tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    _, err = tuned(capsys, kernel(tmp_path, GEMM), *QUICK, "--workers", "tcp://x:1", code=4)
    assert err == "error: --workers needs the package distributed\nhint: pip install 'hbc[fleet]'\n"
