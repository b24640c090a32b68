"""Builds, checks and times the kernels of a bundle on this machine's GPU.

    run.py [-o FOLDER] [--repeat N] [--flush] [--minutes M] [--check] [NAME ...]

NAME is a sample or a schedule. Needs Python 3.10, NumPy and nvcc; no hbc. Every kernel is compared with
precomputed results at small and odd sizes, at large ones with NumPy in some rows, timed there with CUDA
events, and set beside the device's own copy, its tensor cores, and torch and Triton where they are
installed. Writes RESULTS.gpu.md and gpu.json; with --check it compares only, as below compute-sanitizer,
and writes nothing. Exit codes: 1 where a result is wrong or a kernel fails, 4 without a GPU.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from ctypes import CDLL, c_char_p, c_int64, c_void_p
from pathlib import Path

import gpu_peers
import numpy as np
from gpu_device import Device, NoDevice
from gpu_reference import compare
from gpu_report import results

BUNDLE = Path(__file__).resolve().parent
TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "u8": np.uint8,
         "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64}  # fmt: skip
NVCC_FLAGS = ["-std=c++17", "-O3", "-fmad=false", "-shared", "-Xcompiler", "-fPIC"]
COPIED = 1 << 28  # bytes of the copy that is timed
PEAKS = ("f32", "f64", "f16", "bf16", "u8s8")


def find_nvcc():
    """$NVCC, else nvcc on the path or where the toolkit installs it; None where there is none."""
    return (
        os.environ.get("NVCC")
        or shutil.which("nvcc")
        or shutil.which("nvcc", path="/usr/local/cuda/bin")
    )


def build(nvcc, kernel, arch, folder):
    """The library of a kernel. RuntimeError where it is for another architecture."""
    own = kernel.get("arch", arch)
    if own.rstrip("a") != arch:
        raise RuntimeError(f"it is for {own} alone")
    name = f"{kernel['sample']}-{kernel['schedule']}.so"
    return compiled(nvcc, BUNDLE / kernel["source"], folder / name, own)


def compiled(nvcc, source, out, arch):
    """The library of a source, unless it is there already. RuntimeError where nvcc refuses it."""
    if not out.exists() or out.stat().st_mtime < source.stat().st_mtime:
        made = out.with_suffix(".new")
        command = [nvcc, *NVCC_FLAGS, *arch_flags(arch), str(source), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"nvcc: {done.stderr.strip()[:500]}")
        made.replace(out)
    return CDLL(str(out))


def arch_flags(arch):
    """By `-arch`, some versions compile for sm_90 too where sm_90a is asked for."""
    if not arch.endswith("a"):
        return [f"-arch={arch}"]
    return [f"-gencode=arch={arch.replace('sm', 'compute')},code={arch}"]


def build_all(nvcc, kernels, arch, folder):
    """Compiles all at the same time, as many as there are processors; who needs one learns of errors."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for kernel in kernels:
            pool.submit(build, nvcc, kernel, arch, folder)


def peaks(nvcc, device, folder):
    """Operations per second of the device's cores and tensor cores, by type."""
    library = compiled(nvcc, BUNDLE / "peak.cu", folder / "peak.so", device.arch)
    return {kind: device.peak(library[f"peak_{kind}_device"]) for kind in PEAKS}


def call(library, kernel, device, sizes, arrays):
    """Runs the kernel to its end. RuntimeError with its own words where it fails."""
    launcher(library, kernel, sizes, arrays)()
    finished(kernel, device)


def launcher(library, kernel, sizes, arrays, strides=None):
    """What launches the kernel and does not wait. RuntimeError with the kernel's words where it refuses.
    `strides`: of each array, in elements, where rows are apart."""
    function = library[f"{kernel['name']}_device{'' if strides is None else '_strided'}"]
    arguments = [c_int64(sizes[n]) for n in kernel["sizes"]]
    for array, apart in zip(arrays, strides or [()] * len(arrays), strict=True):
        arguments += [c_void_p(array), *map(c_int64, apart)]
    arguments.append(c_void_p())

    def launch():
        status = function(*arguments)
        if status:
            raise RuntimeError(refusal(library, kernel, status))

    return launch


def refusal(library, kernel, status):
    """What the kernel's code of an error means."""
    texts = [library[f"{kernel['name']}_strerror"], library[f"{kernel['name']}_cuda_error"]]
    for text in texts:
        text.restype = c_char_p
    said = texts[0](status).decode()
    return f"{said} ({texts[1]().decode()})" if "CUDA" in said else said


def finished(kernel, device):
    """Waits for the device. RuntimeError where a kernel failed there."""
    status = device.wait()
    if status:
        raise RuntimeError(f"{kernel['name']}: {status}")


def check(library, kernel, device, case):
    """The largest error at one set of sizes, as a share of what is allowed."""
    known = np.load(BUNDLE / case["arrays"])
    host = {a["name"]: known[a["name"]] for a in kernel["arguments"] if not a["output"]}
    outputs = [a for a in kernel["arguments"] if a["output"]]
    for a in outputs:
        host[a["name"]] = np.empty(case["shapes"][a["name"]], TYPES[a["type"]])
        host[a["name"]].view(np.uint8)[...] = 0xA5
    with device.arrays([host[a["name"]] for a in kernel["arguments"]]) as arrays:
        call(library, kernel, device, case["sizes"], arrays)
        for a, pointer in zip(kernel["arguments"], arrays, strict=True):
            if a["output"]:
                device.read(host[a["name"]], pointer)
    return max(share(host[a["name"]], known, a["name"]) for a in outputs)


def share(got, known, name):
    """The largest of error / bound; infinite where a result is no number or an integer is not exact."""
    wanted, bound = known[f"{name}.value"].astype(np.float64), known[f"{name}.bound"]
    error = np.abs(got.astype(np.float64) - wanted)
    if not error.size:
        return 0.0
    shares = np.divide(error, bound, out=np.where(error > 0, np.inf, 0.0), where=bound > 0)
    return float(np.where(np.isnan(shares), np.inf, shares).max())


def random_array(argument, shape, generator):
    """Values for timing: floats in [-1, 1), integers over their range."""
    t = TYPES[argument["type"]]
    if np.issubdtype(t, np.floating):
        return generator.uniform(-1, 1, shape).astype(t)
    limits = np.iinfo(t)
    return generator.integers(limits.min, limits.max, shape, t, endpoint=True)


def large_inputs(kernel, case):
    """By name, the same for every schedule."""
    generator = np.random.default_rng(1)
    inputs = [a for a in kernel["arguments"] if not a["output"]]
    return {a["name"]: random_array(a, case["shapes"][a["name"]], generator) for a in inputs}


def time_kernel(library, kernel, device, case, inputs, repeat, flush):
    """Seconds of each launch, and the first output."""
    host = [
        np.zeros(case["shapes"][a["name"]], TYPES[a["type"]]) if a["output"] else inputs[a["name"]]
        for a in kernel["arguments"]
    ]
    pitch = kernel.get("pitch")
    strides = None
    if pitch:
        host = [pitched(a, pitch) for a in host]
        strides = [[n // a.itemsize for n in a.strides[:-1]] for a in host]
    with device.arrays(host) as arrays:
        launch = launcher(library, kernel, case["sizes"], arrays, strides)
        seconds = device.time(launch, repeat, flush)
        finished(kernel, device)
        number = next(n for n, a in enumerate(kernel["arguments"]) if a["output"])
        device.read(host[number], arrays[number])
    shape = case["shapes"][kernel["arguments"][number]["name"]]
    return seconds, host[number][tuple(map(slice, shape))]


def pitched(array, pitch):
    """The array with rows that begin at multiples of so many bytes, as cudaMallocPitch makes them."""
    if array.ndim < 2:
        return array
    row = -(-array.shape[-1] * array.itemsize // pitch) * pitch // array.itemsize
    padded = np.zeros((*array.shape[:-1], row), array.dtype)
    padded[..., : array.shape[-1]] = array
    return padded


def run_kernel(kernel, device, nvcc, folder, options, outputs):
    """Everything about one kernel, for the table. `outputs`: of other schedules at large sizes."""
    record = {key: kernel[key] for key in ("sample", "schedule", "name")}
    record |= {"checks": [], "times": [], "late": []}
    try:
        library = build(nvcc, kernel, device.arch, folder)
        for case in kernel["checks"]:
            error = check(library, kernel, device, case)
            record["checks"].append({"sizes": case["sizes"], "error": error})
        for case in () if options.check else kernel["times"]:
            if time.monotonic() > options.end:
                record["late"].append(case["sizes"])
                continue
            record["times"].append(timed(library, kernel, device, case, options, outputs))
    except (RuntimeError, OSError) as error:
        record["failure"] = str(error)
    errors = [c["error"] for c in record["checks"]] + [t["error"] or 0 for t in record["times"]]
    record["wrong"] = "failure" in record or any(error > 1 for error in errors)
    return record


def timed(library, kernel, device, case, options, outputs):
    """One row: the time at large sizes, and how far the results are from NumPy's and other schedules'."""
    inputs = large_inputs(kernel, case)
    seconds, got = time_kernel(library, kernel, device, case, inputs, options.repeat, options.flush)
    first = outputs.setdefault((kernel["sample"], str(case["sizes"])), got)
    apart = float(np.abs(got.astype(np.float64) - first).max(initial=0))
    largest = float(np.abs(first.astype(np.float64)).max(initial=0))
    return {
        "sizes": case["sizes"], "seconds": float(np.median(seconds)), "least": float(np.min(seconds)),
        "flops": case["flops"], "bytes": case["bytes"], "rate": case["rate"],
        "apart": apart / (largest or 1.0),
        "error": compare(kernel["sample"], inputs, got, np.random.default_rng(2)),
    }  # fmt: skip


def run_peers(kernels, device, options):
    """Seconds of torch and Triton at the sizes of each sample, or why they did not run."""
    found, seen = [], set()
    for kernel in kernels:
        for case in kernel["times"]:
            key = kernel["sample"], str(case["sizes"])
            if key in seen or time.monotonic() > options.end:
                continue
            seen.add(key)
            row = {"sample": kernel["sample"], "sizes": case["sizes"], "flops": case["flops"]}
            try:
                calls = gpu_peers.peers(kernel["sample"], large_inputs(kernel, case))
                for name, call_peer in calls.items():
                    seconds = device.time(call_peer, options.repeat, options.flush)
                    found.append({**row, "peer": name, "seconds": float(np.median(seconds))})
            except Exception as error:  # noqa: BLE001  whatever another program raises is its own
                found.append({**row, "peer": type(error).__name__, "failure": str(error)[:200]})
            calls = None
            gpu_peers.forget()
    return found


def main(make_device=Device):
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="samples or schedules")
    parser.add_argument("-o", "--output", type=Path, default=BUNDLE, metavar="FOLDER")
    parser.add_argument("--repeat", type=int, default=50, help="launches that are timed")
    parser.add_argument("--minutes", type=float, default=9.0, help="then no more is timed")
    parser.add_argument("--flush", action="store_true", help="empty the L2 cache before each")
    parser.add_argument(
        "--check", action="store_true", help="compare with the results, time nothing"
    )
    options = parser.parse_args()
    options.end = time.monotonic() + 60 * options.minutes
    nvcc = find_nvcc()
    if nvcc is None:
        print("no nvcc: install the CUDA toolkit, or name its nvcc with NVCC", file=sys.stderr)
        return 4
    try:
        device = make_device(nvcc)
    except NoDevice as why:
        print(f"no GPU: {why}; the bundle is ready for a machine that has one", file=sys.stderr)
        return 4
    bundle = json.loads((BUNDLE / "bundle.json").read_text(encoding="utf-8"))
    folder = options.output / "built"
    folder.mkdir(parents=True, exist_ok=True)
    kernels = [
        k
        for k in bundle["kernels"]
        if not options.names or {k["sample"], k["schedule"]} & set(options.names)
        if k.get("arch", device.arch).rstrip("a") == device.arch
    ]
    build_all(nvcc, kernels, device.arch, folder)
    machine = {} if options.check else measured(nvcc, device, folder)
    records, outputs = [], {}
    for kernel in kernels:
        record = run_kernel(kernel, device, nvcc, folder, options, outputs)
        records.append(record)
        print(f"{record['sample']} {record['schedule']}: {verdict(record)}")
        sys.stdout.flush()
    if not options.check:
        found = {"machine": {**machine, "hbc": bundle["hbc"]}, "kernels": records,
                 "peers": run_peers(kernels, device, options)}  # fmt: skip
        write(options.output, found)
    return 1 if any(r["wrong"] for r in records) else 0


def measured(nvcc, device, folder):
    """The device, what its memory and its cores can do, and the peers."""
    return {**device.about(), "copy": device.copy_rate(COPIED), "peaks": peaks(nvcc, device, folder),
            "torch": gpu_peers.version()}  # fmt: skip


def verdict(record):
    """Right or wrong, and why."""
    if not record["wrong"]:
        return "ok"
    errors = [c for c in record["checks"] if c["error"] > 1]
    return f"WRONG {record.get('failure', errors)}"


def write(folder, found):
    """The files of results; the table on the terminal too."""
    (folder / "gpu.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    text = results(found)
    (folder / "RESULTS.gpu.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    sys.exit(main())
