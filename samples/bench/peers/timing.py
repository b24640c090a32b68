"""Times a peer, checks what it computed and prints one JSON line.

A workload's script makes a `Case` (name, sizes, reference) and names its peers: functions that
yield a `Candidate` for every way of running that library. `report` does the rest.
"""

import importlib
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Size = int | str

INSTALL = {
    "numpy": "pip install numpy",
    "scipy": "pip install scipy",
    "opencv": "pip install opencv-python-headless",
    "pillow": "pip install pillow",
    "halide": "pip install halide",
    "torch": "pip install torch",
    "onednn": "apt-get install g++ libdnnl-dev",
}
THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "HL_NUM_THREADS")


class MissingPeer(Exception):
    """The library is not installed."""


class Unsuitable(Exception):
    """The library cannot do this type or size; the message says which."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of one call: the median and the fastest of all repetitions."""

    median: float
    best: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to run a peer: `run` fills `output`, or returns its result where `output` is None.

    `view` turns either into the array that `Case.error` expects; it is never timed.
    """

    version: str
    run: Callable[[], Any]
    output: Array | None = None
    view: Callable[[Any], Array] = np.asarray
    note: str = ""
    peer: str = ""  # where it differs from the library's name
    tolerance: float | None = None  # where it differs from the case's
    seconds_compile: float | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A workload at one size; `error` compares a slice of the output with plain NumPy."""

    workload: str
    sizes: dict[str, Size]
    operations: float
    error: Callable[[Array], float]
    tolerance: float = 1e-4


Peer = Callable[[], Iterator[Candidate]]


def threads() -> int:
    """The thread count for every peer: OMP_NUM_THREADS, or one."""
    return int(os.environ.get("OMP_NUM_THREADS") or 1)


def pin() -> None:
    """Restarts Python with one thread count for all peers and Halide aimed at this host.

    NumPy and Halide read these variables once, so setting them after their import does nothing.
    """
    count = str(threads())
    wanted = {"OMP_NUM_THREADS": count, "HL_JIT_TARGET": "host"}
    wanted |= dict.fromkeys(THREAD_VARIABLES, count)
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        os.execve(sys.executable, sys.orig_argv, os.environ | wanted)


def load(module: str) -> Any:
    """Imports an optional library; raises MissingPeer where it is not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as cause:
        raise MissingPeer(module) from cause


def read_sizes(**defaults: Size) -> dict[str, Any]:
    """The sizes from NAME=VALUE arguments; exits with 2 on a name or value that is not known."""
    sizes: dict[str, Any] = dict(defaults)
    for argument in sys.argv[1:]:
        name, equals, value = argument.partition("=")
        if not equals or name not in defaults:
            known = " ".join(f"{key}={default}" for key, default in defaults.items())
            refuse(f"cannot read `{argument}`; known, with defaults: {known}")
        if isinstance(defaults[name], str):
            sizes[name] = value
        elif value.isdecimal() and int(value) > 0:
            sizes[name] = int(value)
        else:
            refuse(f"`{name}` wants a positive integer, not `{value}`")
    return sizes


def refuse(message: str) -> NoReturn:
    """Ends a run whose arguments make no sense."""
    print(message, file=sys.stderr)
    sys.exit(2)


def measure(run: Callable[[], Any], min_total: float = 0.5, max_total: float = 5.0) -> Timing:
    """Times `run` after a warm-up, at least five times and for `min_total` seconds.

    A call so slow that five of them exceed `max_total` seconds is repeated less often.
    """
    run()
    spent: list[float] = []
    total = 0.0
    while (len(spent) < 5 or total < min_total) and total < max_total:
        start = time.perf_counter()
        run()
        spent.append(time.perf_counter() - start)
        total += spent[-1]
    return Timing(statistics.median(spent), min(spent))


def relative_error(got: Array, want: Array) -> float:
    """Largest difference over the largest wanted magnitude; infinite where `got` has NaNs."""
    scale = float(np.abs(want).max()) or 1.0
    worst = float(np.abs(np.asarray(got, np.float64) - want).max()) / scale
    return worst if np.isfinite(worst) else float("inf")


def sample_rows(count: int, wanted: int = 6) -> list[int]:
    """A few row numbers from 0 to count-1, both ends among them."""
    return sorted({int(row) for row in np.linspace(0, count - 1, wanted)})


def poison(output: Array) -> None:
    """Fills with 0xFF bytes: NaN in every float type, -1 in signed integers."""
    output.view(np.uint8).fill(0xFF)


def run_once(candidate: Candidate) -> Array:
    """One call into a poisoned output."""
    if candidate.output is None:
        return candidate.view(candidate.run())
    poison(candidate.output)
    candidate.run()
    return candidate.view(candidate.output)


def report(case: Case, peers: Mapping[str, Peer]) -> int:
    """Runs every peer and prints its lines; 1 if one of them computed something else, else 0."""
    wrong = 0
    for name, peer in peers.items():
        try:
            for candidate in peer():
                wrong |= _report_one(case, name, candidate)
        except MissingPeer:
            print(json.dumps({"peer": name, "missing": INSTALL[name]}), flush=True)
        except Unsuitable as reason:
            print(json.dumps({"peer": name, "unsuitable": str(reason)}), flush=True)
    return wrong


def _report_one(case: Case, name: str, candidate: Candidate) -> int:
    line: dict[str, Any] = {"peer": candidate.peer or name, "version": candidate.version}
    line |= {"workload": case.workload, "sizes": case.sizes, "threads": threads()}
    error = case.error(run_once(candidate))
    allowed = case.tolerance if candidate.tolerance is None else candidate.tolerance
    if error > allowed:
        print(json.dumps(line | {"wrong": error, "note": candidate.note}), flush=True)
        return 1
    timing = measure(candidate.run)
    line |= {"seconds_median": timing.median, "seconds_best": timing.best}
    line |= {"gflops": round(case.operations / timing.median * 1e-9, 1), "error": error}
    if candidate.seconds_compile is not None:
        line["seconds_compile"] = round(candidate.seconds_compile, 3)
    print(json.dumps(line | {"note": candidate.note}), flush=True)
    return 0
