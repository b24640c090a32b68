"""What is known of a bundle's kernels without a GPU: gpu_floors.py BUNDLE >RESULTS.gpu.md.

What each uses of a GPU, as nvcc says; what a run must move and compute; and the least time that takes on
three cards.
"""

import json
import sys
from pathlib import Path

from gpu_report import at

# Bytes per second; multiply-adds as two operations per second, dense, summed in f32; instructions of warps a
# second, one a cycle by each of the four parts of a multiprocessor at its highest clock.
CARDS = {
    "A100 40 GB": {"memory": 1555e9, "f16": 312e12, "f32": 19.5e12, "issue": 4 * 108 * 1.41e9},
    "H100 SXM": {"memory": 3350e9, "f16": 989e12, "f32": 66.9e12, "issue": 4 * 132 * 1.98e9},
    "RTX 4070 SUPER": {"memory": 504e9, "f16": 71e12, "f32": 35.5e12, "issue": 4 * 56 * 2.475e9},
}
HEAD = """\
# Kernels for GPUs, on paper

**Nothing here was run on a GPU**: there was none. Every kernel was compiled by nvcc, and its CUDA code was
compared with the oracle on a processor, thread by thread (`hbc verify --target cuda --on-cpu`).
`make gpu-bundle` makes the folder that checks and times all of them on a machine with a GPU
(`build/gpu-bundle/gpu.sh`), which writes a file of this name.
"""
SOURCES = """\
The floor of a run is the larger of its arithmetic at the card's peak and of its arrays, each moved once, at
the rate of the card's memory; no kernel is faster. *Traffic* is what all blocks together load and store
besides, most of it in the L2 cache. Peaks, dense and summed in f32: A100 40 GB 1,555 GB/s, 312 Tflop/s on
tensor cores, 19.5 on CUDA cores ("NVIDIA A100 Tensor Core GPU", data sheet); H100 SXM 3,350 GB/s, 989 and
66.9 ("NVIDIA H100 Tensor Core GPU", data sheet; without sparsity); RTX 4070 SUPER 504 GB/s, 71 and 35.5,
reckoned from its 56 multiprocessors at 2,475 MHz ("NVIDIA Ada GPU Architecture": 512 multiply-adds of half
floats in a cycle of each, 142 Tflop/s, where sums are f16, and half of that where they are f32).
"""


def resources(kernels):
    """The table of registers, spills and shared memory, of kernels with 32-bit indices where there are
    such."""
    yield (
        "| sample | schedule | kernel | arch | registers | bytes spilled | stack | shared memory"
        " | threads | blocks at once, by |"
    )
    yield "|---|---|---|---|---:|---:|---:|---:|---:|---|"
    for k in kernels:
        names = {r["function"] for r in k["resources"]}
        for r in k["resources"]:
            if r["function"].endswith("_64") and r["function"].removesuffix("_64") in names:
                continue
            yield (
                f"| {k['sample']} | {k['schedule']} | `{r['function']}` | {r['arch']} | {r['registers']}"
                f" | {r['spills']} | {r['stack']} | {r['shared']} | {r['threads']}"
                f" | {r['blocks']}, {r['limit']} |"
            )


def floors(kernels):
    """The table of work and least times."""
    yield (
        "| sample | schedule | sizes | Gflop | MB | flop/byte | traffic, MB | "
        + " | ".join(f"{card}, us" for card in CARDS)
        + " |"
    )
    yield "|---|---|---|" + "---:|" * (4 + len(CARDS))
    for k in kernels:
        for t in k["times"]:
            moved = traffic(k["traffic"], t["sizes"])
            least = (f"{floor(card, t) * 1e6:.1f}" for card in CARDS.values())
            yield (
                f"| {k['sample']} | {k['schedule']} | {at(t['sizes'])} | {t['flops'] / 1e9:.2f}"
                f" | {t['bytes'] / 1e6:.2f} | {t['flops'] / t['bytes']:.0f} | {moved} | "
                + " | ".join(least)
                + " |"
            )


def floor(card, t):
    """Seconds."""
    return max(t["flops"] / card[t["rate"]], t["bytes"] / card["memory"])


def traffic(formula, sizes):
    """In MB; nothing where there is no formula. It is one of gpu_cases.toml: arithmetic on the sizes."""
    return f"{eval(formula, {'__builtins__': {}}, sizes) / 1e6:.1f}" if formula else ""


def main():
    """Prints the page."""
    bundle = json.loads((Path(sys.argv[1]) / "bundle.json").read_text(encoding="utf-8"))
    kernels = bundle["kernels"]
    lines = [HEAD, "## What the kernels use", "", *resources(kernels), "",
             "## Work, and the least time", "", SOURCES, *floors(kernels)]  # fmt: skip
    print("\n".join(lines))


if __name__ == "__main__":
    main()
