"""How fast a kernel ran, and which share of this machine's roof that is."""

from __future__ import annotations

import statistics
from collections.abc import Callable

from hbc.cli.roof.roofs import Roofs, raised_roofs
from hbc.cli.roof.share import share_keys
from hbc.cli.runs.work import Work
from hbc.cli.show.report import Json, Progress, seconds
from hbc.ir.ground.record import record

# The median over the best call from which on other programs are to blame: a kernel by itself varies by a
# tenth, and with its caches cold or its clock low by a factor of two (3.1 was seen beside one other program).
BUSY = 2.5


@record
class Speed:
    """Timed calls of one kernel, with its work and the roofs for as many threads."""

    times: tuple[float, ...]
    work: Work
    roofs: Roofs

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def roof_share(self) -> float:
        """The least time that the work can take here over the median time: 1 is the roof."""
        return self.roofs.seconds(self.work) / self.median

    @property
    def best_share(self) -> float:
        """The same for the best call. Above 1 the roofs are too low."""
        return self.roofs.seconds(self.work) / min(self.times)

    @property
    def busy(self) -> bool:
        """Whether most calls had to wait for a processor."""
        return self.median > BUSY * min(self.times)

    def as_json(self) -> dict[str, Json]:
        """Stable keys. `gflops` are 10^9 operations per second, of whichever kind."""
        work, roofs, median = self.work, self.roofs, self.median
        compute, memory = roofs.compute_seconds(work), roofs.memory_seconds(work)
        peak = work.total / compute if compute else roofs.peak("f32")
        return {
            "seconds_median": median,
            "seconds_best": min(self.times),
            "calls": len(self.times),
            "gflops": work.total / median / 1e9,
            "gbytes_per_s": work.bytes / median / 1e9,
            **share_keys(self.roof_share),
            "busy": self.busy,
            "flops": work.total,
            "flops_by_kind": dict(sorted(work.operations.items())),
            "bytes": work.bytes,
            "roof": {
                "gflops": peak / 1e9,
                "gbytes_per_s": roofs.bandwidths[roofs.level(work.bytes)] / 1e9,
                "level": roofs.level(work.bytes),
                "bound": "compute" if compute >= memory else "memory",
                "seconds": roofs.seconds(work),
            },
        }

    def facts(self) -> list[tuple[str, str]]:
        """The same for people."""
        work, roofs, median = self.work, self.roofs, self.median
        unit = "GFLOP/s" if work.floating else "Gop/s"
        compute, memory = roofs.compute_seconds(work), roofs.memory_seconds(work)
        if compute >= memory and compute:
            kinds = "+".join(
                sorted(named(k, work) for k, count in work.operations.items() if count)
            )
            roof = f"{work.total / compute / 1e9:.3g} {unit} of {kinds} arithmetic"
        else:
            level = roofs.level(work.bytes)
            roof = f"{roofs.bandwidths[level] / 1e9:.3g} GB/s from {level}"
        calls = f"median of {len(self.times)}, best {seconds(min(self.times))}"
        rates = [f"{work.total / median / 1e9:.3g} {unit}"] if work.total else []
        rates.append(f"{work.bytes / median / 1e9:.3g} GB/s")
        facts = [
            ("time", f"{seconds(median)} ({calls})"),
            ("speed", ", ".join(rates)),
            ("roof", f"{self.roof_share:.1%} of this machine's {roof}"),
        ]
        if self.busy:
            times = f"half of the calls took over {median / min(self.times):.0f} times the best"
            facts.append(("busy", f"{times}: other programs use the processors"))
        if self.best_share > 1:
            cause = "it was measured on a busy machine (--refresh measures it again), or less is computed"
            facts.append(
                ("mistrust", f"the best call is above the roof: {cause} than the algorithm says")
            )
        return facts


def named(kind: str, work: Work) -> str:
    """Whose peak a kind of work is compared with, in words: integers without a peak of their own are with
    that of f32, whose vectors have as many lanes."""
    return "integer (at the rate of f32)" if kind == "f32" and not work.floating else kind


def speed_of(
    times: tuple[float, ...], work: Work, roofs: Roofs, shown: Progress,
    again: Callable[[Roofs, Progress], Roofs] = raised_roofs,
) -> Speed:  # fmt: skip
    """The speed under these roofs, or under higher ones, measured `again`, where the best call was above
    them: a busy machine slows most calls down, and the roofs as well."""
    speed = Speed(times, work, roofs)
    return speed if speed.best_share <= 1 else Speed(times, work, again(roofs, shown))
