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

import halide as hl
import numpy as np
from peers import (
    algebra_apps,
    camera_app,
    guided_app,
    image_apps,
    layer_apps,
    lens_app,
    number_apps,
    picture_apps,
    pyramid_apps,
    quantised_apps,
    spectrum_apps,
)

os.environ |= {"OMP_NUM_THREADS": "1", "HL_NUM_THREADS": "1", "HL_JIT_TARGET": "host"}
HERE = Path(__file__).parent

Array = np.ndarray[Any, Any]
Call = Callable[[], object]
ROUNDS, BATCH = 21, 0.02  # rounds, and seconds of calls in each


@dataclass(frozen=True)
class App:
    """Its sizes, inputs, the shape and type of its output, and Halide's ways to compute it; `border`: at how
    many pixels of each side Halide's application means something else; `second`: the elements of a second
    output; `constant`: the name and place of an input that is packed before the call, and how for Halide."""

    sizes: tuple[int, ...]
    inputs: Callable[[np.random.Generator], list[Any]]
    shape: tuple[int, ...]
    element: type
    peers: tuple[Callable[[], image_apps.Built], ...]
    tolerance: float = 1e-4
    border: int = 0
    second: type | None = None
    constant: tuple[str, int, Callable[[Array], Array]] | None = None


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


def sparse(r: np.random.Generator) -> list[Any]:
    """Rows of 20 elements in the mean, many of them shorter."""
    ends = np.sort(r.integers(0, 200001, 9999))
    rows = np.int32([0, *ends, 200000])
    column = np.int32(r.integers(0, 5000, 200000))
    return [rows, column, *several((200000,), (5000,))(r)]


def layer(*filters: int) -> Callable[[np.random.Generator], list[Any]]:
    """A layer of bytes: its picture is 58 x 58 x 64, or 64 rows of 1024."""
    deep = filters[-2:]
    picture = (1, 58, 58, deep[0]) if len(filters) == 4 else (64, deep[0])

    def made(r: np.random.Generator) -> list[Any]:
        arrays = [r.integers(0, 256, picture).astype(np.uint8)]
        arrays.append(r.integers(-128, 128, filters).astype(np.int8))
        arrays.append(r.integers(-1000, 1000, deep[1]).astype(np.int32))
        scale = np.float32(r.uniform(1, 2, deep[1]) * 2e-4)
        return [*arrays, scale, np.uint8(128), np.uint8(128)]

    return made


def added(r: np.random.Generator) -> list[Any]:
    a, b = (r.integers(0, 256, (3136, 256)).astype(np.uint8) for _ in range(2))
    return [a, b, 0.02, np.uint8(128), 0.03, np.uint8(120), 0.04, np.uint8(110)]


def weights_of_4_bits(r: np.random.Generator) -> list[Any]:
    bytes_ = r.integers(0, 256, (1024, 16, 32)).astype(np.uint8)
    zero = r.integers(0, 16, (1024, 16)).astype(np.uint8)
    return [bytes_, *floats(1024, 16)(r), zero, *several((16, 64))(r)]


def triangle(r: np.random.Generator) -> list[Any]:
    return [np.float32(np.eye(256) + r.uniform(1, 2, (256, 256)) / 256), *floats(256, 64)(r)]


def pair(r: np.random.Generator) -> list[Any]:
    pictures = [r.integers(0, 256, (3, 384, 512)).astype(np.uint8) for _ in range(2)]
    return [*pictures, np.int32(10), 0.5]


def options(r: np.random.Generator) -> list[Any]:
    ranges = ((5, 30), (1, 100), (0.25, 10))
    return [*(np.float32(r.uniform(*ends, 1000000)) for ends in ranges), 0.02, 0.3]


def pictures(r: np.random.Generator) -> list[Any]:
    """A small picture, what was made of it, and a large one."""
    small, large = (
        np.float32(r.uniform(0, 1, (3, 128, 192))),
        np.float32(r.uniform(0, 1, (3, 1024, 1536))),
    )
    return [small, np.float32(small**2 * 0.8 + 0.1), large]


def block(r: np.random.Generator) -> list[Any]:
    weights = several((256, 64), (3, 3, 64, 64), (64, 256), (2, 64), (2, 64), (2, 256))(r)
    return [*floats(1, 56, 56, 256)(r), *(0.1 * w for w in weights[:3]), *weights[3:]]


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
    "canny": App(
        (1080, 1920), lambda r: [*floats(1080, 1920)(r), 0.5, 1.0], (1080, 1920), np.uint8,
        (picture_apps.canny,),
    ),
    "lens_blur": App(
        (384, 512), pair, (3, 384, 512), np.float32, (lens_app.lens_blur,), 1e-3
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
    "quantised_conv": App(
        (1, 56, 56, 64, 64), layer(3, 3, 64, 64), (1, 56, 56, 64), np.uint8,
        (quantised_apps.quantised_conv, quantised_apps.large_quantised_conv), 0.005,
        constant=("F", 1, quantised_apps.in_fours),
    ),
    "quantised_fully_connected": App(
        (64, 1024, 1024), layer(1024, 1024), (64, 1024), np.uint8,
        (quantised_apps.quantised_fully_connected, quantised_apps.large_quantised_fully_connected),
        0.005, constant=("B", 1, quantised_apps.in_fours),
    ),
    "quantised_pool": App(
        (1, 56, 56, 256), whole(np.uint8, 256, 1, 112, 112, 256), (1, 56, 56, 256), np.uint8,
        (quantised_apps.quantised_pool,), second=np.uint8,
    ),
    "quantised_add": App(
        (3136, 256), added, (3136, 256), np.uint8, (quantised_apps.quantised_add,), 0.005
    ),
    "quantised_softmax": App(
        (512, 1024), lambda r: [*whole(np.uint8, 256, 512, 1024)(r), 0.05], (512, 1024), np.uint8,
        (quantised_apps.quantised_softmax,), 0.2,
    ),
    "int4_gemv": App(
        (1024, 16), weights_of_4_bits, (1024,), np.float32, (quantised_apps.int4_gemv,)
    ),
    "black_scholes": App(
        (1000000,), options, (1000000,), np.float32, (algebra_apps.black_scholes,),
        second=np.float32,
    ),
    "triangular_solve": App(
        (256, 64), triangle,
        (256, 64), np.float32,
        (algebra_apps.triangular_solve, algebra_apps.wide_triangular_solve), 1e-3,
    ),
    "cholesky": App(
        (4096,), lambda r: [np.float32(r.uniform(-0.5, 0.5, (8, 8, 4096))), 8.0], (8, 8, 4096), np.float32,
        (algebra_apps.cholesky, algebra_apps.looped_cholesky),
    ),
    "csr_product": App((10000, 5000, 200000), sparse, (10000,), np.float32, (algebra_apps.csr_product,)),
    "top_k": App(
        (256, 1000), floats(256, 1000), (256, 8), np.float32, (algebra_apps.top_k,), second=np.int32
    ),
    "fft": App(
        (256,), lambda r: [np.float32(r.uniform(-1, 1, (2, 256, 256)))], (2, 256, 256), np.float32,
        (spectrum_apps.fft,),
    ),
    "stft": App(
        (512,), floats(511 * 128 + 512, low=-1), (2, 512, 257), np.float32, (spectrum_apps.stft,)
    ),
    "mel_spectrogram": App(
        (512,), floats(511 * 160 + 512, low=-1), (512, 40), np.float32,
        (spectrum_apps.mel_spectrogram,),
    ),
    "resnet_block": App(
        (1, 56, 56, 256, 64), block, (1, 56, 56, 256), np.float32, (layer_apps.resnet_block,)
    ),
    "bgu": App(
        (1024, 1536), pictures, (3, 1024, 1536), np.float32,
        (guided_app.bgu, guided_app.wide_bgu), 1e-3,
    ),
}  # fmt: skip


def main() -> None:
    names = sys.argv[1:] or [*APPS]
    if unknown := [name for name in names if name not in APPS]:
        sys.exit(f"no such application: {', '.join(unknown)}; there are {', '.join(APPS)}")
    print(
        "| application | size | hbc ms | auto ms | Halide ms | Halide / hbc | Halide / auto "
        "| Halide's schedule |"
    )
    print("|---|---|---:|---:|---:|---:|---:|---|")
    for name in names:
        report(name, APPS[name])


def report(name: str, app: App) -> None:
    inputs = app.inputs(np.random.default_rng(1))
    calls, outputs = [], []
    for make in (
        lambda out: hbc_call(name, app, inputs, out),
        lambda out: hbc_call(name, app, inputs, out, "--schedule", "auto"),
        *(lambda out, b=build: halide_call(b, app, inputs, out) for build in app.peers),
    ):
        elements = [app.element, *([app.second] if app.second else [])]
        outputs.append([np.zeros(app.shape, e) for e in elements])
        calls.append(make(outputs[-1]))
    for call in calls:
        call()
    names = ["auto", *(build.__name__ for build in app.peers)]
    for who, found in zip(names, outputs[1:], strict=True):
        compare(f"{name}: {who}", app, found, outputs[0])
    own, made, *others = timed(calls)
    size = "x".join(str(n) for n in app.shape)
    for build, seconds in zip(app.peers, others, strict=True):
        how = (build.__doc__ or "").strip().rstrip(".")
        times = " | ".join(f"{t * 1e3:.3g}" for t in (own, made, seconds))
        ratios = f"{seconds / own:.2f} | {seconds / made:.2f}"
        print(f"| {name} | {size} | {times} | {ratios} | {how} |", flush=True)


def compare(who: str, app: App, found: list[Array], wanted: list[Array]) -> None:
    """SystemExit where results lie apart."""
    inside = (..., *[slice(app.border, -app.border)] * 2) if app.border else ...
    for one, other in zip(found, wanted, strict=True):
        greatest = max(1e-30, np.abs(other.astype(float)).max())
        off = np.abs(one.astype(float) - other)[inside].max() / greatest
        if not off <= app.tolerance:
            sys.exit(f"{who} differs by {off:.2g}")


def hbc_call(name: str, app: App, inputs: list[Any], outputs: list[Array], *options: str) -> Call:
    folder = Path(tempfile.mkdtemp())
    hbc = os.environ.get("HBC", "hbc").split()
    file = HERE.parent / "apps" / f"{name}.hb"
    subprocess.run(
        [*hbc, "compile", file, "--emit", "so", "-o", folder, *options],
        check=True, capture_output=True,
    )  # fmt: skip
    library = ctypes.CDLL(str(next(folder.glob("*.so"))))
    sizes = [ctypes.c_int64(n) for n in app.sizes]
    given = list(inputs)
    if app.constant:
        of, place, _ = app.constant
        given[place] = packed(library, f"{name}_", of, sizes, inputs[place])
    words = [*sizes, *map(argument, (*given, *outputs))]
    function = getattr(library, f"{name}_packed" if app.constant else name)

    def call(_kept: object = given) -> None:
        if code := function(*words):
            sys.exit(f"{name}: error {code}")

    return call


def packed(library: ctypes.CDLL, prefix: str, of: str, sizes: list[Any], raw: Array) -> Array:
    """What the kernel makes of a constant input, beginning with a line of the cache."""
    measure = getattr(library, f"{prefix}packed_size_{of}")
    measure.restype = ctypes.c_int64
    made = np.zeros(measure(*sizes) + 64, np.uint8)
    made = made[-made.ctypes.data % 64 :]
    if code := getattr(library, f"{prefix}pack_{of}")(*sizes, argument(raw), argument(made)):
        sys.exit(f"{of} cannot be packed: error {code}")
    return made


def argument(a: Any) -> Any:
    """An array, or a number by value."""
    if isinstance(a, np.ndarray):
        return ctypes.c_void_p(a.ctypes.data)
    whole_types = {np.int16: ctypes.c_int16, np.uint8: ctypes.c_uint8, np.int32: ctypes.c_int32}
    return whole_types.get(type(a), ctypes.c_float)(a)


def halide_call(
    build: Callable[[], image_apps.Built], app: App, inputs: list[Any], outputs: list[Array]
) -> Call:
    func, parameters = build()
    compiled = func.compile_to_callable(parameters, hl.get_jit_target_from_environment())
    given = list(inputs)
    if app.constant:
        _, place, arranged = app.constant
        given[place] = np.ascontiguousarray(arranged(inputs[place]))
    words = [hl.Buffer(a) if isinstance(a, np.ndarray) else a for a in given]
    results = [hl.Buffer(a) for a in outputs]
    return lambda: compiled(*words, *results)


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
