"""What nvcc makes of the samples for tensor cores: sass.py [--arch sm_80 sm_90] [SAMPLE[/SCHEDULE] ...].

Prints a row for each kernel with products: how many instructions a warp is given for each HMMA in the loop
around them, and what of these an expert would not want: accesses of two bytes, barriers, spills. Counted in
the disassembly (`pip install nvidia-cuda-nvdisasm`), not measured. `--page FILE` writes the table between the
marks `<!-- sass -->` of that page.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from gpu_sass import MainLoop, main_loop

from hbc.cli.pipeline import choose_schedule, load_pipeline, lower_to_kernel
from hbc.codegen.build.nvcc import build_cuda
from hbc.codegen.cuda.file import emit_cuda
from hbc.codegen.cuda.index import WIDE_SUFFIX
from hbc.codegen.cuda.kernel import SUFFIXES
from hbc.ir.lang.target import TARGETS

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parent / "cuda"
ARCHS = ("sm_80", "sm_90")
BEGIN, END = "<!-- sass -->\n", "<!-- /sass -->\n"
HEADS = (
    "kernel", "schedule", "arch", "instructions", "HMMA in the loop", "instructions for each HMMA",
    "of 2 bytes", "barriers", "spills",
)  # fmt: skip


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--nvdisasm", default="nvdisasm")
    parser.add_argument("--arch", nargs="+", default=ARCHS)
    parser.add_argument("--page", type=Path)
    parser.add_argument("samples", nargs="*")
    given = parser.parse_args()
    if shutil.which(given.nvdisasm) is None:
        parser.error(
            f"no `{given.nvdisasm}`: pip install nvidia-cuda-nvdisasm, and name its file by --nvdisasm"
        )
    lines = [f"| {' | '.join(HEADS)} |", f"|---|---|---|{'---:|' * (len(HEADS) - 3)}"]
    for name, schedule in wanted(given.samples):
        for arch in given.arch:
            for kernel, found in counted(name, schedule, arch, given.nvdisasm):
                lines.append(row(kernel, schedule, arch, found))
                print(lines[-1], file=sys.stderr)
    if given.page is None:
        print("\n".join(lines))
        return
    text = given.page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    given.page.write_text(before + BEGIN + "\n".join(lines) + "\n" + END + after, encoding="utf-8")


def wanted(samples: Sequence[str]) -> list[tuple[str, str]]:
    """Samples and schedules; all that use tensor cores where none is named."""
    cases = tomllib.loads((HERE / "gpu_cases.toml").read_text(encoding="utf-8"))
    found = []
    for name in sorted(cases):
        for schedule in load_pipeline(SAMPLES / f"{name}.hb", {}).schedules:
            asked = {name, f"{name}/{schedule.name}"} & set(samples)
            if asked or (not samples and schedule.name.partition("_")[0] in ("mma", "wmma")):
                found.append((name, schedule.name))
    return found


def counted(name: str, schedule: str, arch: str, nvdisasm: str) -> Iterator[tuple[str, MainLoop]]:
    """The kernels with 32-bit indices for aligned strides that have products, and what their main
    loops have."""
    p = load_pipeline(SAMPLES / f"{name}.hb", {})
    target = TARGETS["cuda"]
    source = emit_cuda(lower_to_kernel(p, choose_schedule(p, "cuda", schedule), target), target)
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder, "k.cubin")
        used = build_cuda(source, cubin, "cubin", (arch,))
        shown = subprocess.run([nvdisasm, "-c", cubin], capture_output=True, text=True, check=True)
    others = (WIDE_SUFFIX, *SUFFIXES[1:])
    for kernel in (r.function for r in used if not r.function.endswith(others)):
        found = main_loop(shown.stdout, kernel)
        if found is not None:
            yield kernel, found


def row(kernel: str, schedule: str, arch: str, found: MainLoop) -> str:
    cells = (
        f"`{kernel}`", schedule, arch, f"{found.whole:,}", f"{found.products:g}",
        f"{found.instructions / found.products:.2f}",
        *(f"{n:g}" for n in (found.narrow, found.barriers, found.spills)),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
