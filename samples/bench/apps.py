"""Times applications of samples/apps beside Halide with its own schedules, in turns, on one thread.

PEER_PYTHON samples/bench/apps.py [NAME ...]: a Python that has halide and NumPy; hbc is the command HBC
[hbc]. What is measured is the processor time of the thread, so that other work on the machine matters
little.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

os.environ |= {"OMP_NUM_THREADS": "1", "HL_NUM_THREADS": "1", "HL_JIT_TARGET": "host"}
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "peers"))

import camera_app  # noqa: E402
import halide as hl  # noqa: E402
import image_apps  # noqa: E402
import number_apps  # noqa: E402
import numpy as np  # noqa: E402
import picture_apps  # noqa: E402
import pyramid_apps  # noqa: E402

Array = np.ndarray[Any, Any]
Call = Callable[[], object]
ROUNDS, BATCH = 21, 0.02  # rounds, and seconds of calls in each


@dataclass(frozen=True)
class App:
    """Its sizes, inputs, the shape and type of its output, and Halide's ways to compute it; `border`: at how
    many pixels of each side Halide's application means something else."""

    sizes: tuple[int, ...]
    inputs: Callable[[np.random.Generator], list[Any]]
    shape: tuple[int, ...]
    element: type
    peers: tuple[Callable[[], image_apps.Built], ...]
    tolerance: float = 1e-4
    border: int = 0


def floats(*shape: int, low: float = 0) -> Callable[[np.random.Generator], list[Any]]:
    return lambda r: [np.float32(r.uniform(low, 1, shape))]


def several(*shapes: tuple[int, ...]) -> Callable[[np.random.Generator], list[Any]]:
    return lambda r: [np.float32(r.uniform(-1, 1, shape)) for shape in shapes]


def raw_picture(r: np.random.Generator) -> list[Any]:
    matrices = [np.float32(r.uniform(-0.4, 0.9, (3, 4))) for _ in range(2)]
    bytes_ = r.integers(0, 1024, (1920 + 24, 2560 + 32)).astype(np.uint16)
    return [bytes_, *matrices, 3700.0, 2.0, 50.0, np.int16(25), np.int16(1023)]


def transparent(r: np.random.Generator) -> list[Any]:
    picture = np.float32(r.uniform(0, 1, (4, 2560, 1536)))
    picture[3] = picture[3] > 0.7
    return [picture]


def whole(t: type, high: int, *shape: int) -> Callable[[np.random.Generator], list[Any]]:
    return lambda r: [r.integers(0, high, shape).astype(t)]


APPS = {
    "blur": App(
        (1536, 2560),
        whole(np.uint16, 16384, 1538, 2562),
        (1536, 2560),
        np.uint16,
        (image_apps.blur, image_apps.wide_blur),
    ),
    "harris": App(
        (1536, 2560), floats(1536, 2560), (1532, 2556), np.float32, (image_apps.harris,), 1e-3
    ),
    "unsharp": App(
        (1536, 2560),
        floats(3, 1536, 2560, low=0.1),
        (3, 1536, 2560),
        np.float32,
        (image_apps.unsharp,),
        1e-3,
    ),
    "max_filter": App(
        (1536, 2560),
        whole(np.uint8, 256, 1536, 2560),
        (1536, 2560),
        np.uint8,
        (image_apps.max_filter,),
    ),
    "bilateral_grid": App(
        (1536, 2560),
        floats(1536, 2560),
        (1536, 2560),
        np.float32,
        (image_apps.bilateral_grid,),
        1e-3,
    ),
    "stencil_chain": App(
        (1536, 2560),
        whole(np.uint16, 65536, 1568, 2592),
        (1536, 2560),
        np.uint16,
        (image_apps.stencil_chain, image_apps.wide_stencil_chain),
    ),
    "nl_means": App(
        (614, 1024),
        lambda r: [*floats(3, 614, 1024)(r), 0.12],
        (3, 614, 1024),
        np.float32,
        (image_apps.nl_means,),
        1e-2,
    ),
    "interpolate": App(
        (2560, 1536),
        transparent,
        (3, 2560, 1536),
        np.float32,
        (pyramid_apps.interpolate, pyramid_apps.bordered_interpolate),
        border=512,
    ),
    "camera_pipe": App(
        (1920, 2560), raw_picture, (3, 1920, 2560), np.uint8, (camera_app.camera_pipe,), 0.01
    ),
    "local_laplacian": App(
        (1024, 1536), floats(1024, 1536), (1024, 1536), np.float32,
        (picture_apps.local_laplacian, picture_apps.wide_local_laplacian), 1e-3, 256,
    ),
    "iir_blur": App(
        (1024, 1536), lambda r: [*floats(1024, 1536)(r), 0.5], (1024, 1536), np.float32,
        (picture_apps.iir_blur,),
    ),
    "hist": App(
        (1024, 1536), whole(np.uint8, 256, 3, 1024, 1536), (3, 1024, 1536), np.uint8,
        (picture_apps.hist,), 0.02,  # a luma rounded the other way
    ),
    "depthwise_separable_conv": App(
        (4, 112, 112, 32, 16), several((4, 112, 112, 32), (3, 3, 32), (32, 16), (16,)),
        (4, 112, 112, 16), np.float32, (picture_apps.depthwise_separable_conv,),
    ),
    "sobel": App((1080, 1920), floats(1080, 1920), (1080, 1920), np.float32, (picture_apps.sobel,)),
    "median": App(
        (1024, 1536), whole(np.uint8, 256, 1024, 1536), (1024, 1536), np.uint8,
        (picture_apps.median,),
    ),
    "gemv": App(
        (1024, 1024), lambda r: [*several((1024, 1024), (1024,), (1024,))(r), 1.5, 0.5], (1024,),
        np.float32, (number_apps.gemv,),
    ),
    "softmax": App((512, 1024), floats(512, 1024), (512, 1024), np.float32, (number_apps.softmax,)),
    "layernorm": App(
        (512, 768), several((512, 768), (768,), (768,)), (512, 768), np.float32,
        (number_apps.layernorm,),
    ),
    "rmsnorm": App(
        (512, 1024), several((512, 1024), (1024,)), (512, 1024), np.float32,
        (number_apps.rmsnorm,),
    ),
    "rotary": App(
        (128, 16, 32), lambda r: [*floats(128, 16, 2, 32)(r), 10000.0], (128, 16, 2, 32), np.float32,
        (number_apps.rotary,),
    ),
    "n_body": App(
        (2048,), lambda r: [*several((3, 2048), (2048,))(r), 0.1], (3, 2048), np.float32,
        (number_apps.n_body,), 1e-3,
    ),
    "mandelbrot": App(
        (480, 640), lambda r: [-2.0, 1.2, 0.005], (480, 640), np.int32, (number_apps.mandelbrot,), 0.2
    ),
    "jacobi": App(
        (512, 512), several((512, 512), (512, 512)), (512, 512), np.float32, (number_apps.jacobi,)
    ),
    "heat_3d": App(
        (64, 96, 128), lambda r: [*floats(64, 96, 128)(r), 0.1], (64, 96, 128), np.float32,
        (number_apps.heat_3d,),
    ),
}  # fmt: skip


def main() -> None:
    print("| application | size | hbc ms | Halide ms | Halide / hbc | Halide's schedule |")
    print("|---|---|---:|---:|---:|---|")
    for name in sys.argv[1:] or APPS:
        report(name, APPS[name])


def report(name: str, app: App) -> None:
    inputs = app.inputs(np.random.default_rng(1))
    calls, outputs = [], []
    for make in (
        lambda out: hbc_call(name, app, inputs, out),
        *(lambda out, b=build: halide_call(b, inputs, out) for build in app.peers),
    ):
        outputs.append(np.zeros(app.shape, app.element))
        calls.append(make(outputs[-1]))
    for call in calls:
        call()
    for build, found in zip(app.peers, outputs[1:], strict=True):
        inside = (..., *[slice(app.border, -app.border)] * 2) if app.border else ...
        off = np.abs(found.astype(float) - outputs[0])[inside].max() / max(
            1e-30, np.abs(outputs[0].astype(float)).max()
        )
        if off > app.tolerance:
            sys.exit(f"{name}: {build.__name__} differs by {off:.2g}")
    times = timed(calls)
    size = "x".join(str(n) for n in app.shape)
    for build, seconds in zip(app.peers, times[1:], strict=True):
        how = (build.__doc__ or "").strip().rstrip(".")
        own, other = f"{times[0] * 1e3:.3g}", f"{seconds * 1e3:.3g}"
        print(
            f"| {name} | {size} | {own} | {other} | {seconds / times[0]:.2f} | {how} |", flush=True
        )


def hbc_call(name: str, app: App, inputs: list[Any], out: Array) -> Call:
    folder = Path(tempfile.mkdtemp())
    hbc = os.environ.get("HBC", "hbc").split()
    file = HERE.parent / "apps" / f"{name}.hb"
    subprocess.run(
        [*hbc, "compile", file, "--emit", "so", "-o", folder], check=True, capture_output=True
    )
    function = getattr(ctypes.CDLL(str(next(folder.glob("*.so")))), name)
    words: list[Any] = [ctypes.c_int64(n) for n in app.sizes]
    words += [argument(a) for a in inputs]
    words.append(ctypes.c_void_p(out.ctypes.data))

    def call() -> None:
        if code := function(*words):
            sys.exit(f"{name}: error {code}")

    return call


def argument(a: Any) -> Any:
    """An array, or a number by value."""
    if isinstance(a, np.ndarray):
        return ctypes.c_void_p(a.ctypes.data)
    return ctypes.c_int16(a) if isinstance(a, np.int16) else ctypes.c_float(a)


def halide_call(build: Callable[[], image_apps.Built], inputs: list[Any], out: Array) -> Call:
    func, parameters = build()
    compiled = func.compile_to_callable(parameters, hl.get_jit_target_from_environment())
    words = [hl.Buffer(a) if isinstance(a, np.ndarray) else a for a in inputs]
    result = hl.Buffer(out)
    return lambda: compiled(*words, result)


def timed(calls: list[Call]) -> list[float]:
    """Seconds of processor time of one call of each: medians of rounds in which each is called in turn."""
    times = [max(1, int(BATCH / max(once(call, 1), 1e-6))) for call in calls]
    found: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for n, call in enumerate(calls):
            found[n].append(once(call, times[n]))
    return [median(x) for x in found]


def once(call: Call, times: int) -> float:
    begin = time.thread_time()
    for _ in range(times):
        call()
    return (time.thread_time() - begin) / times


if __name__ == "__main__":
    main()
