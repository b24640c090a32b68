"""The steps of a matrix product on a GPU, side by side: gpu_steps.py [--nvdisasm FILE] [PAGE].

Rewrites the table between the marks `<!-- steps -->` of the page (docs/cuda.md). What moves and the least
times are reckoned; registers, blocks at once and instructions are those of nvcc's code for sm_80 and of its
disassembly (`pip install nvidia-cuda-nvdisasm`), or, where one of the two is missing, those that the page
has already.
"""

import argparse
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gpu_floors import CARDS
from gpu_sass import per_product

from hbc.cli.pipeline import choose_schedule, load_pipeline, lower_to_kernel
from hbc.cli.runs.work import count_work
from hbc.codegen.build.nvcc import build_cuda, find_nvcc
from hbc.codegen.cuda.file import CudaSource, emit_cuda
from hbc.ir.ground.diag import ToolError
from hbc.ir.lang.target import TARGETS

HERE = Path(__file__).resolve().parent
SAMPLE = HERE.parent / "cuda" / "gemm_f16.hb"
ARCH = "sm_80"
SIZES = {"M": 4096, "N": 4096, "K": 4096}
BEGIN, END = "<!-- steps -->\n", "<!-- /steps -->\n"
PRODUCT = 2048  # multiply-adds: what one HMMA of half floats does for a warp


@dataclass(frozen=True)
class Step:
    """A schedule: rows and columns of its blocks, multiply-adds of one warp in an iteration of the loop
    over `ko` (over `k` where it has no such, then of nvcc's loop)."""

    what: str
    schedule: str
    rows: int
    columns: int
    rate: str
    sums: int | None


STEPS = (
    Step("all from the device's memory", "simt_direct", 16, 16, "f32", None),
    Step("shared memory, 4 x 4 sums a thread", "simt", 64, 64, "f32", 32 * 16 * 16),
    Step("copies ahead: `cp.async`, 3 stages", "simt_async", 64, 64, "f32", 32 * 16 * 16),
    Step("tensor cores: WMMA", "wmma_async", 128, 128, "f16", 32 * 64 * 32),
    Step("`mma.sync`, `ldmatrix`, swizzles", "mma", 128, 128, "f16", 64 * 64 * 32),
)
MEASURED = ("registers", "blocks at once", "instructions")
HEADS = (
    "step", "schedule", "a block moves, MB", "all blocks, GB", "flop/byte", "shared memory", *MEASURED,
    *(f"{card}, ms" for card in CARDS),
)  # fmt: skip


def main() -> None:
    """Rewrites the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--nvdisasm", default=shutil.which("nvdisasm"))
    parser.add_argument("page", nargs="?", type=Path, default=HERE.parents[1] / "docs" / "cuda.md")
    given = parser.parse_args()
    text = given.page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    old, _, after = rest.partition(END)
    lines = table(old, given.nvdisasm)
    given.page.write_text(before + BEGIN + "\n".join(lines) + "\n" + END + after, encoding="utf-8")


def table(old: str, nvdisasm: str | None) -> list[str]:
    """The table; without `nvdisasm` with what was measured for the old one."""
    known = cells(old)
    right = "---:|" * (len(HEADS) - 2)
    lines = [f"| {' | '.join(HEADS)} |", f"|---|---|{right}"]
    for step in STEPS:
        source = cuda(step)
        had = known.get(step.schedule, {})
        measured = {name: had.get(name, "") for name in MEASURED}
        if nvdisasm is not None and has_nvcc():
            measured = measure(step, source, nvdisasm)
        row = {**reckoned(step, source), **measured, **floors(step, measured["instructions"])}
        lines.append(f"| {' | '.join(row[name] for name in HEADS)} |")
    return lines


def cells(text: str) -> dict[str, dict[str, str]]:
    """The rows of a table of this script by schedule, the cells of each by column."""
    rows = [[c.strip() for c in line.strip("|\n").split("|")] for line in text.splitlines()]
    if not rows:
        return {}
    return {row[1].strip("`"): dict(zip(rows[0], row, strict=True)) for row in rows[2:]}


def cuda(step: Step) -> CudaSource:
    p = load_pipeline(SAMPLE, {})
    target = TARGETS["cuda"]
    return emit_cuda(lower_to_kernel(p, choose_schedule(p, "cuda", step.schedule), target), target)


def has_nvcc() -> bool:
    try:
        find_nvcc()
    except ToolError:
        return False
    return True


def reckoned(step: Step, source: CudaSource) -> dict[str, str]:
    """What follows from the schedule and the CUDA code alone. A block moves what the formula of
    gpu_cases.toml says of a product of its own size."""
    cases = tomllib.loads((HERE / "gpu_cases.toml").read_text(encoding="utf-8"))
    formula = cases["gemm_f16"]["traffic"][step.schedule]
    block = moved(formula, {"M": step.rows, "N": step.columns, "K": SIZES["K"]})
    flops = 2 * step.rows * step.columns * SIZES["K"]
    return {
        "step": step.what,
        "schedule": f"`{step.schedule}`",
        "a block moves, MB": f"{block / 1e6:.2f}",
        "all blocks, GB": f"{moved(formula, SIZES) / 1e9:.2f}",
        "flop/byte": f"{flops / block:.1f}",
        "shared memory": f"{max((use.total for use in source.shared), default=0):,}",
    }


def moved(formula: str, sizes: Mapping[str, int]) -> float:
    """Bytes. The formula is one of gpu_cases.toml: arithmetic on the sizes."""
    return float(eval(formula, {"__builtins__": {}}, dict(sizes)))


def measure(step: Step, source: CudaSource, nvdisasm: str) -> dict[str, str]:
    """What nvcc makes of it, of the kernel with 32-bit indices."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder, "k.cubin")
        used = {r.function: r for r in build_cuda(source, cubin, "cubin", (ARCH,))}
        shown = subprocess.run([nvdisasm, "-c", cubin], capture_output=True, text=True, check=True)
    name = min((f for f in used if not f.endswith("_64")), key=len)
    r = used[name]
    count = per_product(shown.stdout, name, step.sums) * PRODUCT
    return {
        "registers": str(r.registers),
        "blocks at once": f"{r.blocks} ({r.occupancy} %)",
        "instructions": f"{count:.3g}",
    }


def floors(step: Step, instructions: str) -> dict[str, str]:
    """The least time on each card, in ms: of the arithmetic, of the arrays, each moved once, and of the
    instructions that all warps have to be given."""
    p = load_pipeline(SAMPLE, {})
    work = count_work(p, SIZES)
    issued = work.total / 2 / PRODUCT * float(instructions or 0)
    least = {
        card: max(work.total / c[step.rate], work.bytes / c["memory"], issued / c["issue"])
        for card, c in CARDS.items()
    }
    return {f"{card}, ms": f"{1e3 * seconds:.2f}" for card, seconds in least.items()}


if __name__ == "__main__":
    main()
