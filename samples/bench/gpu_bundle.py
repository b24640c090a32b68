"""Prepares a folder that needs no hbc: gpu_bundle.py [-o FOLDER] [--archs sm_80,sm_90] [--samples FOLDER].

Every sample under samples/cuda with every schedule as CUDA, what must come out at the sizes of
gpu_cases.toml, and the scripts that check and time them: `gpu.sh` there runs everything. Where there is
an nvcc, what each kernel uses of a GPU stands in bundle.json too.
"""

import argparse
import json
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from hbc.cli.files.inputs import choose_example, gather_inputs
from hbc.cli.files.sizes import extents
from hbc.cli.pipeline import load_pipeline, lower_to_kernel
from hbc.cli.runs.trials import accepted
from hbc.cli.runs.work import count_work
from hbc.cli.show.crash import version
from hbc.codegen.build.nvcc import build_cuda, checked_archs, find_nvcc
from hbc.codegen.cuda.file import CudaSource, emit_cuda
from hbc.codegen.cuda.limits import able_archs, own_arch
from hbc.frontend.oracle.oracle import evaluate
from hbc.frontend.program.funcs import Pipeline, Schedule
from hbc.ir.ground.diag import HbcError, ToolError
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import TARGETS

HERE = Path(__file__).resolve().parent
SCRIPTS = {
    "gpu_run.py": "run.py", "gpu_device.py": "", "gpu_report.py": "", "gpu_reference.py": "",
    "gpu_peers.py": "", "gpu_triton.py": "", "gpu.sh": "", "../../cli/roof/gpu_peak.cu": "peak.cu",
    "warp_costs.cu": "", "warp_costs.sh": "",
}  # fmt: skip
LARGEST = 60_000_000  # bytes of the folder

Sizes = Mapping[str, int]
Record = dict[str, Any]


def main() -> int:
    """Exit code 1 where a sample does not compile or the folder is too large."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/gpu-bundle"))
    parser.add_argument("--archs", default="sm_80,sm_90", help="to report resources of; '': none")
    parser.add_argument("--samples", type=Path, default=HERE.parent / "cuda")
    arguments = parser.parse_args()
    try:
        archs = checked_archs(arguments.archs.split(",")) if arguments.archs else ()
        records = bundle(arguments.output, arguments.samples, archs)
    except HbcError as error:
        print(error, file=sys.stderr)
        return 1
    size = sum(p.stat().st_size for p in arguments.output.rglob("*") if p.is_file())
    print(f"{arguments.output}: {len(records)} kernels, {size / 1e6:.1f} MB")
    return 1 if size > LARGEST else 0


def bundle(folder: Path, samples: Path, archs: tuple[str, ...]) -> list[Record]:
    """Makes the folder anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    cases = tomllib.loads((HERE / "gpu_cases.toml").read_text(encoding="utf-8"))
    records = []
    for path in sorted(samples.glob("*.hb")):
        p = load_pipeline(path, {})
        known = {**usual(p), **cases.get(p.name, {})}
        arrays = [expected(p, sizes, folder, n) for n, sizes in enumerate(known["check"])]
        for s in p.schedules:
            print(f"{p.name} {s.name}", file=sys.stderr)
            records.append(record(p, s, known, arrays, folder, archs))
    made = {"hbc": version(), "kernels": records}
    (folder / "bundle.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    for source, name in SCRIPTS.items():
        shutil.copy(HERE / source, folder / (name or source))
    return records


def usual(p: Pipeline) -> Record:
    """What a sample is tried at that gpu_cases.toml does not name: the sizes of its example."""
    sizes = [dict(choose_example(p, None).sizes)]
    return {"check": sizes, "time": sizes, "rate": {"simt": "f32", "default": "f16"}}


def expected(p: Pipeline, sizes: Sizes, folder: Path, number: int) -> Record:
    """Inputs and what must come out, as a file."""
    settings = {name: str(n) for name, n in sizes.items()}
    inputs = gather_inputs(p, settings, choose_example(p, None), {}).inputs
    arrays = dict(inputs)
    for name, reference in evaluate(p, sizes, inputs).items():
        arrays[f"{name}.value"] = reference.value
        arrays[f"{name}.bound"] = reference.bound
    (folder / "cases").mkdir(exist_ok=True)
    file = f"cases/{p.name}-{number}.npz"
    np.savez_compressed(folder / file, **arrays)
    return {"sizes": dict(sizes), "arrays": file, "shapes": shapes(p, sizes)}


def shapes(p: Pipeline, sizes: Sizes) -> dict[str, list[int]]:
    return {a.name: list(extents(a, sizes)) for a in (*p.inputs, *p.outputs)}


def record(
    p: Pipeline, s: Schedule, cases: Record, arrays: list[Record], folder: Path,
    archs: tuple[str, ...],
) -> Record:  # fmt: skip
    """A kernel: its files, and all that run.py must know of it."""
    target = TARGETS["cuda"]
    kernel = lower_to_kernel(p, s, target)
    source = emit_cuda(kernel, target)
    place = folder / p.name / s.name
    place.mkdir(parents=True)
    (place / f"{source.name}.cu").write_text(source.text, encoding="utf-8")
    (place / f"{source.name}.h").write_text(source.header, encoding="utf-8")
    rates = cases["rate"]
    own = own_arch(source.instructions)
    return {
        **({} if own is None else {"arch": own}),
        "sample": p.name,
        "schedule": s.name,
        "name": source.name,
        "source": f"{p.name}/{s.name}/{source.name}.cu",
        "sizes": [size.name for size in kernel.sizes],
        "arguments": [
            {"name": a.name, "type": a.element.name, "output": a.output}
            for a in sorted(kernel.arguments, key=lambda a: a.output)
        ],
        "checks": [c for c in arrays if accepted(p, kernel.checks, c["sizes"])],
        "times": list(timed(p, kernel, cases["time"], rates.get(s.name, rates["default"]))),
        "traffic": cases.get("traffic", {}).get(s.name),
        "pitch": cases.get("pitch"),
        "resources": used(source, place, archs),
    }


def timed(p: Pipeline, kernel: Kernel, all_sizes: list[Sizes], rate: str) -> Iterator[Record]:
    """The sizes to time it at, and what a run does there."""
    for sizes in all_sizes:
        if accepted(p, kernel.checks, sizes):
            work = count_work(p, sizes)
            yield {"sizes": dict(sizes), "shapes": shapes(p, sizes), "flops": work.total,
                   "bytes": work.bytes, "rate": rate}  # fmt: skip


def used(source: CudaSource, place: Path, archs: tuple[str, ...]) -> list[Record]:
    """Registers, stack, spills and shared memory, as ptxas says; nothing without an nvcc."""
    try:
        find_nvcc()
    except ToolError:
        return []
    if not archs:
        return []
    out = place / "report.fatbin"
    found = build_cuda(source, out, "fatbin", able_archs(source.instructions, archs))
    out.unlink()
    return [asdict(r) for r in found]


if __name__ == "__main__":
    sys.exit(main())
