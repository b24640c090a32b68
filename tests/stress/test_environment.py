"""Attacks on the environment of hbc: signals, files that cannot grow, compilers that break or lie, damaged
caches, few file handles. Each ends with an exit code that is documented, one line, and nothing left behind.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE, CompletedProcess, Popen

import pytest

from hbc.codegen.build.toolchain import find_compiler
from hbc.ir.ground.diag import ToolError

from .conftest import ROUNDS, Place, ended

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX")

# A driver and what it starts, as gcc and cc1; both leave files where compilers do, the second also when the
# first has removed them.
SLOW = """#!/bin/sh
[ "$1" = --version ] && { echo gcc 12; exit 0; }
touch "$TMPDIR/ccSLOW.s"
trap 'rm -f "$TMPDIR/ccSLOW.s"; exit 1' TERM INT
(trap 'touch "$TMPDIR/ccLATE.s"; exit 1' TERM; sleep 600 & wait) &
echo $$ $! >"$PIDS.part"
mv "$PIDS.part" "$PIDS"
wait
"""
BROKEN = {
    "killed": "kill -9 $$",
    "no file": "exit 0",
    "garbage": 'while [ $# -gt 0 ]; do [ "$1" = -o ] && echo x >"$2"; shift; done; exit 0',
    "a folder": 'while [ $# -gt 0 ]; do [ "$1" = -o ] && mkdir "$2"; shift; done; exit 0',
    "no folder": 'while [ $# -gt 0 ]; do [ "$1" = -o ] && rm -r "${2%/*}"; shift; done; exit 0',
    "no UTF-8": r"printf '\377\376 error: \033[31m\n' >&2; exit 1",
    "silent": "exit 1",
    "out of memory": "echo 'cc1: out of memory allocating 65536 bytes' >&2; exit 1",
    "killed inside": "echo 'gcc: fatal error: Killed signal terminated program cc1' >&2; exit 1",
    "crashed": "echo 'doubled.c:1: internal compiler error: Segmentation fault' >&2; exit 1",
    "full": "echo 'fatal error: error writing to /tmp/x.s: No space left on device' >&2; exit 1",
    "no header": "echo 'doubled.c:3:10: fatal error: stdint.h: No such file or directory' >&2; exit 1",
    "old": "echo \"gcc: error: unrecognized command-line option '-mavx2'\" >&2; exit 1",
}
VERSIONS = {"no UTF-8": r"printf '\377\376 1.0\n'", "nothing": "true", "failing": "exit 3",
            "killed": "kill -9 $$"}  # fmt: skip


@pytest.fixture(autouse=True)
def compiler() -> str:
    """The command of the compiler that works; the attacks need one to get past."""
    try:
        return " ".join(find_compiler().command)
    except ToolError as missing:
        pytest.skip(str(missing))


def hear() -> None:
    """In a child: signals that pytest was started to ignore (`nohup`) end it again: it inherits that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def script(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def alive(process: int) -> bool:
    """Whether it runs; what nobody has waited for does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        return state != "Z"
    except OSError:
        pass
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return not Path("/proc/self").exists()


def finish(attack: str, child: "Popen[str]", *allowed: int) -> None:
    out, err = child.communicate(timeout=300)
    ended(attack, CompletedProcess([], child.returncode, out, err), *allowed)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_the_compiler_and_what_it_started(place: Place, number: signal.Signals) -> None:
    for n in range(ROUNDS):
        told = place.folder / f"pids{n}"
        own = {"CC": script(place.folder / "cc", SLOW), "PIDS": str(told)}
        command = place.command("compile", str(place.kernel), "--emit", "so", "-o", "out")
        with Popen(
            command, env=place.environment | own, cwd=place.folder, stdout=PIPE, stderr=PIPE, text=True,
            start_new_session=True, preexec_fn=hear,
        ) as child:  # fmt: skip
            until = time.monotonic() + 240
            while not told.exists() and child.poll() is None and time.monotonic() < until:
                time.sleep(0.02)
            assert told.exists()
            child.send_signal(number)
            finish(f"{number.name} while the compiler runs", child, 128 + number)
        for process in told.read_text().split():
            until = time.monotonic() + 30
            while alive(int(process)) and time.monotonic() < until:
                time.sleep(0.02)
            assert not alive(int(process))
        assert place.left() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_at_any_time(place: Place, number: signal.Signals) -> None:
    began = time.monotonic()
    ended("no signal", place.hbc("run", str(place.kernel), "--output", "out/b.npy"), 0)
    took = time.monotonic() - began
    (place.folder / "out" / "b.npy").unlink()
    source = random.Random(int(number))
    for _ in range(ROUNDS):
        command = place.command("run", str(place.kernel), "--output", "out/b.npy")
        with Popen(
            command, env=place.environment, cwd=place.folder, stdout=PIPE, stderr=PIPE, text=True,
            start_new_session=True, preexec_fn=hear,
        ) as child:  # fmt: skip
            # Before hbc has begun, signals do what they do to Python.
            time.sleep(source.uniform(0.3, 1.1) * took)
            child.send_signal(number)
            out, err = child.communicate(timeout=300)
        if child.returncode in (0, -number) or "Traceback" in err:
            # Too late, or too soon: while Python itself started or ended.
            (place.folder / "out" / "b.npy").unlink(missing_ok=True)
        else:
            done = CompletedProcess([], child.returncode, out, err)
            ended(f"{number.name} at any time", done, 128 + number)
            (place.folder / "out" / "b.npy").unlink(missing_ok=True)
        assert place.left() == []


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_compilers(place: Place, broken: str) -> None:
    text = f'#!/bin/sh\n[ "$1" = --version ] && {{ echo gcc 12; exit 0; }}\n{BROKEN[broken]}\n'
    done = place.hbc("run", str(place.kernel), CC=script(place.folder / "cc", text))
    ended(f"compiler: {broken}", done, 4)
    assert place.left() == []


@pytest.mark.parametrize("broken", VERSIONS)
def test_compilers_that_do_not_say_what_they_are(place: Place, broken: str, compiler: str) -> None:
    text = f'#!/bin/sh\n[ "$1" = --version ] && {{ {VERSIONS[broken]}; exit; }}\nexec {compiler} "$@"\n'
    done = place.hbc("compile", str(place.kernel), "--emit", "so", "-o", "out",
                     CC=script(place.folder / "cc", text))  # fmt: skip
    if broken == "no UTF-8":  # it is a compiler all the same
        assert done.returncode == 0, done.stderr
    else:
        ended(f"version: {broken}", done, 4)


def test_damaged_caches(place: Place) -> None:
    source = random.Random(7)
    commands: list[tuple[str, ...]] = [
        ("compile", str(place.kernel), "--target", "avx512vnni", "-o", "out"),
        ("run", str(place.kernel)),
    ]
    for command in commands:
        ended("fresh cache", place.hbc(*command), 0)
    for _ in range(ROUNDS):
        for file in sorted((place.folder / "cache").iterdir()):
            data = bytearray(file.read_bytes())
            damage: Callable[[], bytes] = source.choice(
                [
                    lambda data=data: bytes(data[: len(data) // 2]),  # type: ignore[misc]
                    lambda: b"",
                    lambda data=data: os.urandom(len(data)),  # type: ignore[misc]
                    lambda data=data: bytes(data[:-1]) + bytes([data[-1] ^ 1]),  # type: ignore[misc]
                ]
            )
            file.write_bytes(damage() if data else b"x")
        for command in commands:
            ended("damaged cache", place.hbc(*command), 0)


def test_files_that_cannot_grow(place: Place) -> None:
    """As on a full disk: each write beyond a length fails, in hbc, in the compiler and in the child."""
    resource = pytest.importorskip("resource")
    (place.folder / "k.hb").write_text((place.folder / "k.hb").read_text().replace("16", "20000"))
    lengths = [0, 100, 5_000, 20_000, 60_000]
    for length in random.Random(3).sample(range(200_000), ROUNDS) if ROUNDS > 1 else lengths:

        def before(length: int = length) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (length, length))

        done = place.hbc("run", str(place.kernel), "--output", "out/b.npy", before=before)
        ended("files that cannot grow", done, 0, 1, 4)
        made = place.folder / "out" / "b.npy"
        assert made.exists() == (done.returncode == 0)
        made.unlink(missing_ok=True)
        assert place.left() == []


def test_few_file_handles(place: Place) -> None:
    resource = pytest.importorskip("resource")
    for count in (6, 8, 10, 12) if ROUNDS == 1 else range(5, 40):

        def before(count: int = count) -> None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))

        done = place.hbc("run", str(place.kernel), before=before)
        ended("few file handles", done, 0, 1, 4)
        assert "no C compiler" not in done.stderr  # there is one: it cannot be started
        assert place.left() == []
