"""The figures to reach: how many times as fast as a peer hbc should be at a workload's sizes."""

from dataclasses import dataclass
from typing import Literal

from record import Case

Outcome = Literal["reached", "not reached", "not measured"]


@dataclass(frozen=True, slots=True)
class Goal:
    """Reached where the peer's time over hbc's is at least `ratio`."""

    workload: str
    peer: str  # a peer's name in the scripts under peers/; `numpy` is OpenBLAS at gemm
    ratio: float

    def outcome(self, measured: float | None) -> Outcome:
        """What the measured ratio says."""
        if measured is None:
            return "not measured"
        return "reached" if measured >= self.ratio else "not reached"


GOALS = (
    Goal("gemm_f32", "numpy", 1.0),
    Goal("gemm_f32", "onednn", 0.95),
    Goal("gemm_bf16", "onednn", 0.9),
    Goal("gemm_u8s8", "onednn", 0.9),
    Goal("conv1d", "halide", 1.0),
    Goal("conv1d_bf16", "halide", 1.6),
    Goal("conv1d_u8s8", "halide", 2.5),
    Goal("conv2d", "halide", 1.0),
    # The schedule behind the figure to reach; the peer `halide` is one that we tuned further.
    Goal("downsample", "halide-first", 1.5),
    Goal("upsample", "halide", 1.0),
    Goal("resize", "halide", 1.0),
    Goal("resize", "pillow", 6.0),
    Goal("recursive", "halide", 1.5),
    Goal("denoise", "halide", 1.2),
    Goal("conv_layer", "halide", 0.95),
    Goal("conv_layer_u8s8", "halide", 2.5),  # against f32, as the convolutions of bytes above
    Goal("attention_fused", "halide", 1.0),
)


def goals_of(case: Case) -> dict[str, Goal]:
    """The goals of the case's workload by peer."""
    return {goal.peer: goal for goal in GOALS if goal.workload == case.workload}
