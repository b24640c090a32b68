"""Targets: what code is printed for, and how wide its vectors are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """`vector_bits` 0 means scalar code. `flags` go to the C compiler. `needs` are CPU feature names
    as /proc/cpuinfo spells them. `falls_back` names the target whose schedules also serve."""

    name: str
    vector_bits: int
    flags: tuple[str, ...]
    needs: tuple[str, ...]
    falls_back: str | None
    about: str


TARGETS: dict[str, Target] = {
    t.name: t
    for t in (
        Target("c", 0, (), (), None, "portable C11, no intrinsics"),
        Target(
            "avx2", 256, ("-march=x86-64-v3",), ("avx2", "fma", "f16c"), "c",
            "C with AVX2, FMA and F16C intrinsics",
        ),
        Target(
            "avx512", 512, ("-march=x86-64-v4",),
            ("avx512f", "avx512bw", "avx512dq", "avx512vl", "fma", "f16c"), "avx2",
            "C with AVX-512 F/BW/DQ/VL intrinsics",
        ),
    )
}  # fmt: skip


def schedule_order(target: str) -> tuple[str, ...]:
    """The target and those it falls back on, best first: whose schedules may serve it."""
    order = []
    name: str | None = target
    while name is not None:
        order.append(name)
        name = TARGETS[name].falls_back
    return tuple(order)
