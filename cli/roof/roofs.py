"""This machine's roofs, measured: arithmetic peaks and bandwidths, kept in the user's cache folder.

Small C programs (`peak.c`, `peak_products.c`, `bandwidth.c`) are compiled like a kernel and run like
one, one copy per thread. What else runs on the machine can only slow them down: the best of several
rounds counts. The roof is that of the machine, not of a target: code for `c` is compared with what
the processor's widest vectors could do.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from itertools import accumulate
from pathlib import Path

from hbc.cli.files.replace_file import write_text
from hbc.cli.machine import cache_bytes, cpu_count, cpu_name, processor_key
from hbc.cli.roof.team import MEMORY, Team, bandwidths, compiled, widest
from hbc.cli.runs.work import Work
from hbc.cli.show.report import Progress
from hbc.codegen.build.processor import cpu_features
from hbc.codegen.build.toolchain import cache_folder, find_compiler
from hbc.ir.ground.diag import HbcError, ToolError
from hbc.ir.ground.record import record
from hbc.ir.host.scratch import scratch_folder

VERSION = 3  # of the programs and of the file below: raise it when either changes
CALL_SECONDS = 0.02  # of one call

# Kind of work, program, function, CPU features it needs: the best of a kind comes first.
PEAKS = (
    ("f32", "peak", "peak_f32_avx512", {"avx512f"}),
    ("f32", "peak", "peak_f32_avx2", {"avx2", "fma"}),
    ("f32", "peak", "peak_f32", set[str]()),
    ("f64", "peak", "peak_f64_avx512", {"avx512f"}),
    ("f64", "peak", "peak_f64_avx2", {"avx2", "fma"}),
    ("f64", "peak", "peak_f64", set[str]()),
    ("f16", "peak_products", "peak_f16_amx", {"amx_tile", "amx_fp16"}),
    ("bf16", "peak_products", "peak_bf16_amx", {"amx_tile", "amx_bf16"}),
    ("bf16", "peak", "peak_bf16_avx512", {"avx512f", "avx512_bf16"}),
    ("bf16", "peak_products", "peak_bf16_mmla", {"asimd", "bf16"}),
    ("u8s8", "peak_products", "peak_u8s8_amx", {"amx_tile", "amx_int8"}),
    ("u8s8", "peak", "peak_u8s8_avx512", {"avx512f", "avx512_vnni"}),
    ("u8s8", "peak_products", "peak_u8s8_avx2", {"avx2", "avx_vnni"}),
    ("u8s8", "peak_products", "peak_u8s8_i8mm", {"asimd", "i8mm"}),
    ("u8s8", "peak_products", "peak_u8s8_dot", {"asimd", "asimddp"}),
)


@record
class Roofs:
    """Operations per second by kind (`f32 f64 f16 bf16 u8s8`; absent when the processor has no such
    instruction) and bytes per second by level (`L1 L2 L3 DRAM`), for `threads` threads together.
    `levels` are the bytes that fit into each level."""

    threads: int
    peaks: Mapping[str, float]
    bandwidths: Mapping[str, float]
    levels: Mapping[str, int]

    def peak(self, kind: str) -> float:
        """Without instructions of its own a kind is computed as f32."""
        return self.peaks.get(kind, self.peaks["f32"])

    def level(self, moved: int) -> str:
        """The level that a working set of that many bytes lives in when a kernel is run often."""
        for name, room in self.levels.items():
            if moved <= room:
                return name
        return MEMORY

    def compute_seconds(self, work: Work) -> float:
        return sum(count / self.peak(kind) for kind, count in work.operations.items())

    def memory_seconds(self, work: Work) -> float:
        return work.bytes / self.bandwidths[self.level(work.bytes)]

    def seconds(self, work: Work) -> float:
        """What the work takes at least on this machine: the longer of computing and moving."""
        return max(self.compute_seconds(work), self.memory_seconds(work))


def machine_roofs(threads: int, shown: Progress, refresh: bool = False) -> Roofs:
    """The roofs for that many threads, from the cache unless `refresh`. Takes about three seconds
    when they must be measured. ToolError without a C compiler."""
    threads = min(threads, cpu_count())
    file = _kept(threads)
    if not refresh and file is not None:
        kept = load_roofs(file)
        if kept is not None:
            return kept
    shown.step("measuring this machine's roofs")
    roofs = _measure(threads)
    if file is not None:
        store_roofs(file, roofs, cpu_name(), str(find_compiler()))
    return roofs


def kept_roofs(threads: int) -> Roofs | None:
    """The roofs for that many threads where they were measured before; nothing is run."""
    file = _kept(min(threads, cpu_count()))
    return None if file is None else load_roofs(file)


def raised_roofs(roofs: Roofs, shown: Progress) -> Roofs:
    """Measured once more, the higher of each figure kept: for when a run was faster than the roofs
    allow, which were then measured in a busy moment."""
    shown.step("measuring this machine's roofs again")
    again = _measure(roofs.threads)
    higher = Roofs(
        roofs.threads,
        {kind: max(rate, roofs.peaks.get(kind, 0.0)) for kind, rate in again.peaks.items()},
        {level: max(r, roofs.bandwidths.get(level, 0.0)) for level, r in again.bandwidths.items()},
        again.levels,
    )
    file = _kept(roofs.threads)
    if file is not None:
        store_roofs(file, higher, cpu_name(), str(find_compiler()))
    return higher


def _kept(threads: int) -> Path | None:
    """The file that holds what was measured; None where there is no folder for it."""
    try:
        return (
            cache_folder() / f"roofs-{processor_key(VERSION, str(find_compiler()), threads)}.json"
        )
    except ToolError:
        return None


def _measure(threads: int) -> Roofs:
    levels = {f"L{level}": room for level, room in sorted(cache_bytes().items())}
    with scratch_folder() as folder:
        peaks = _measure_peaks(folder, threads)
        with Team(compiled("bandwidth", folder), threads) as team:
            reads = dict(bandwidths(team, widest("read"), 1, threads, levels))
            copies = dict(bandwidths(team, "copy", 2, threads, levels))
    best = {level: max(rate, copies[level]) for level, rate in reads.items()}
    return Roofs(threads, peaks, none_below(best), levels)


def _measure_peaks(folder: Path, threads: int) -> dict[str, float]:
    peaks: dict[str, float] = {}
    teams: dict[str, Team] = {}
    with ExitStack() as stack:
        for kind, program, function, needs in PEAKS:
            if kind in peaks or not needs <= cpu_features():
                continue
            if program not in teams:
                teams[program] = stack.enter_context(Team(compiled(program, folder), threads))
            if rate := _peak(teams[program], function, threads):
                peaks[kind] = rate
    return peaks


def _peak(team: Team, function: str, threads: int) -> float:
    """Operations per second of all threads; 0 where the system does not permit the instructions."""
    trial = 10_000_000
    try:
        count = int(trial / team.seconds(function, [trial], []) * CALL_SECONDS)
    except HbcError:  # it refuses, as it does where tiles are not permitted
        return 0.0
    return threads * count / team.seconds(function, [count], [])


def none_below(bandwidths: Mapping[str, float]) -> dict[str, float]:
    """The same, the nearest level first: none is slower than one that lies farther away, which only a busy
    machine makes it seem."""
    levels = list(bandwidths)[::-1]
    least = accumulate((bandwidths[level] for level in levels), max)
    return dict(reversed([*zip(levels, least, strict=True)]))


def load_roofs(file: Path) -> Roofs | None:
    """What the file holds, or None when it is absent or not ours."""
    try:
        held = json.loads(file.read_text(encoding="utf-8"))
        roofs = Roofs(held["threads"], held["peaks"], held["bandwidths"], held["levels"])
        numbers = [*roofs.peaks.values(), *roofs.bandwidths.values(), *roofs.levels.values()]
        whole = "f32" in roofs.peaks and MEMORY in roofs.bandwidths
        usable = whole and all(0 < n < math.inf for n in (roofs.threads, *numbers))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return roofs if usable else None


def store_roofs(file: Path, roofs: Roofs, processor: str, compiler: str = "nvcc") -> None:
    """Keeps them for the next time, where the system lets us."""
    held = {
        "processor": processor,
        "compiler": compiler,
        "threads": roofs.threads,
        "peaks": roofs.peaks,
        "bandwidths": roofs.bandwidths,
        "levels": roofs.levels,
    }
    # Without a cache it is measured again next time.
    with suppress(OSError, HbcError):
        write_text(file, json.dumps(held, indent=2))
