"""Automatic schedules for GPUs beside those of the samples, as far as that can be said without a GPU: what
nvcc and its disassembler report of the kernels that aligned arrays take, and what the model estimates.

    python samples/bench/gpu_auto.py --disassembler nvdisasm --arch sm_80
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

from gpu_sass import main_loop

from hbc.cli.automatic import automatic
from hbc.cli.instruction_set import instructions_of
from hbc.cli.pipeline import choose_schedule, load_pipeline, lower_to_kernel
from hbc.codegen.build.gpu import usable_there
from hbc.codegen.build.nvcc import Resources, build_cuda
from hbc.codegen.cuda.file import emit_cuda
from hbc.frontend.automatic_gpu.device import CLOCK
from hbc.frontend.automatic_gpu.points import gpu_space_of
from hbc.ir.lang.target import TARGETS

SAMPLES = Path(__file__).parents[1] / "cuda"
CUDA = TARGETS["cuda"]
CASES = [
    ("gemm_f16", ("mma",), {"M": 4096, "N": 4096, "K": 4096}),
    ("gemm_f16", ("mma",), {"M": 1024, "N": 1024, "K": 1024}),
    ("gemm_f16", ("wmma_64",), {"M": 512, "N": 512, "K": 512}),
    ("gemm_f16", ("wmma_split_k",), {"M": 256, "N": 256, "K": 32768}),
    ("conv_layer", ("mma",), {"N": 256, "H": 64, "W": 64, "C": 32, "K": 32}),
    ("conv_layer", ("mma",), {"N": 256, "H": 64, "W": 64, "C": 64, "K": 64}),
]
HEADINGS = (
    "sample, sizes, schedule, registers, spills, shared, at once, instructions, a product, model"
)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--disassembler", default="nvdisasm")
    parser.add_argument("--arch", default="sm_80")
    given = parser.parse_args()
    print(f"| {' | '.join(HEADINGS.split(', '))} |")
    print("|---|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for sample, hands, sizes in CASES:
        p = load_pipeline(SAMPLES / f"{sample}.hb", {})
        said = {name: str(n) for name, n in sizes.items()}
        made = automatic(p, CUDA, said, False, given.arch)
        assert made is not None
        usable = usable_there(instructions_of(CUDA), given.arch)
        cycles = gpu_space_of(p, CUDA, said, "auto", usable).made({}).cycles
        kernels = {"`auto`": made.kernel}
        for name in hands:
            kernels[f"`{name}`"] = lower_to_kernel(p, choose_schedule(p, "cuda", name), CUDA)
        for name, kernel in kernels.items():
            row = _row(emit_cuda(kernel, CUDA), given.arch, given.disassembler)
            at = ", ".join(f"{v} = {n}" for v, n in sizes.items())
            model = f"{cycles / CLOCK * 1e6:.0f} us" if cycles and name == "`auto`" else ""
            print(f"| `{sample}` | {at} | {name} | {row} | {model} |", flush=True)


def _row(source: object, arch: str, disassembler: str) -> str:
    from hbc.codegen.cuda.source import CudaSource

    assert isinstance(source, CudaSource)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "k.cubin"
        used = build_cuda(source, out, "cubin", (arch,))
        text = subprocess.run(
            [disassembler, "-c", str(out)], capture_output=True, text=True, check=True
        ).stdout
    kernels = [(r, main_loop(text, r.function)) for r in used if _is_aligned(r)]
    r, loop = max(((r, x) for r, x in kernels if x is not None), key=lambda each: each[1].products)
    each = loop.instructions / loop.products
    held = f"{r.registers} | {r.spills} | {r.shared} | {r.blocks} x {r.threads}"
    return f"{held} | {loop.instructions:.0f} | {each:.2f}"


def _is_aligned(r: Resources) -> bool:
    """Whether it is the kernel for aligned rows and indices of 32 bits."""
    return "any_strides" not in r.function and not r.function.endswith("_64")


if __name__ == "__main__":
    main()
