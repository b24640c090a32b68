"""The kernels of ../movement in Halide, scheduled as its tutorials and applications do such loops: an object
for each, and the buffers with which it is called."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

hl: Any = importlib.import_module("halide") if importlib.util.find_spec("halide") else None

FEATURES = {
    "avx2": "sse41-avx-avx2-fma-f16c",
    "avx512": "sse41-avx-avx2-fma-f16c-avx512-avx512_skylake-avx512_cannonlake",
}
FEATURES["avx512vbmi"] = FEATURES["avx512"]
CODES = {"i": 0, "u": 1, "f": 2}  # of halide_type_t


class Dimension(ctypes.Structure):
    """halide_dimension_t."""

    _fields_ = [
        ("min", ctypes.c_int32), ("extent", ctypes.c_int32), ("stride", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
    ]  # fmt: skip


class Buffer(ctypes.Structure):
    """halide_buffer_t."""

    _fields_ = [
        ("device", ctypes.c_uint64), ("device_interface", ctypes.c_void_p), ("host", ctypes.c_void_p),
        ("flags", ctypes.c_uint64), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("dimensions", ctypes.c_int32), ("dim", ctypes.POINTER(Dimension)),
        ("padding", ctypes.c_void_p),
    ]  # fmt: skip


def buffer(array: NDArray[Any]) -> Buffer:
    """Of an array that must live as long; Halide's first dimension is the last of the array."""
    t, n = array.dtype, array.ndim
    sizes = zip(array.shape[::-1], array.strides[::-1], strict=True)
    dim = (Dimension * n)(*(Dimension(0, extent, s // t.itemsize, 0) for extent, s in sizes))
    return Buffer(0, None, array.ctypes.data, 0, CODES[t.kind], 8 * t.itemsize, 1, n, dim, None)


def compiled(name: str, target: str, folder: Path) -> Path:
    """An object with the function `halide`, of buffers of A and B."""
    f, a = KERNELS[name](target != "avx2")
    made = folder / f"{name}_{target}_halide.o"
    f.compile_to_object(
        made.as_posix(), [a], "halide", hl.Target(f"x86-64-linux-{FEATURES[target]}")
    )
    return made


def _names() -> list[Any]:
    return [hl.Var(n) for n in "cxy"]


def _interleaved(t: Any, count: int) -> Any:
    """An input of structures: (c, x, y), c fastest."""
    a = hl.ImageParam(t, 3)
    a.dim(0).set_bounds(0, count).set_stride(1)
    a.dim(1).set_stride(count)
    return a


def _by_channel(f: Any, count: int, lanes: int, interleaved: bool) -> None:
    """Vectors of pixels, channels unrolled between them."""
    c, x, y = _names()
    if interleaved:
        f.output_buffer().dim(0).set_bounds(0, count).set_stride(1)
        f.output_buffer().dim(1).set_stride(count)
    f.bound(c, 0, count).reorder(c, x, y).vectorize(x, lanes).unroll(c)


def _transpose(t: Any, lanes: int) -> tuple[Any, Any]:
    x, y, xo, yo, xi, yi = (hl.Var(n) for n in ("x", "y", "xo", "yo", "xi", "yi"))
    a, f = hl.ImageParam(t, 2), hl.Func("f")
    f[x, y] = a[y, x]
    f.tile(x, y, xo, yo, xi, yi, lanes, lanes).vectorize(xi).unroll(yi)
    rows = a.in_()
    rows.compute_at(f, xo).vectorize(rows.args()[0]).unroll(rows.args()[1])
    return f, a


def _rgb_to_planar(wide: bool) -> tuple[Any, Any]:
    (c, x, y), f, a = _names(), hl.Func("f"), _interleaved(hl.UInt(8), 3)
    f[x, y, c] = a[c, x, y]
    _by_channel(f, 3, 64 if wide else 32, False)
    return f, a


def _planar_to_rgb(wide: bool) -> tuple[Any, Any]:
    (c, x, y), f, a = _names(), hl.Func("f"), hl.ImageParam(hl.UInt(8), 3)
    f[c, x, y] = a[x, y, c]
    _by_channel(f, 3, 64 if wide else 32, True)
    return f, a


def _rgb_to_y(wide: bool) -> tuple[Any, Any]:
    (_, x, y), f, a = _names(), hl.Func("f"), _interleaved(hl.UInt(8), 3)
    r, g, b = (hl.u16(a[n, x, y]) for n in range(3))
    f[x, y] = hl.u8((r * 77 + g * 150 + b * 29 + 128) >> 8)
    f.vectorize(x, 64 if wide else 32)
    return f, a


def _rgb_to_yuv(wide: bool) -> tuple[Any, Any]:
    (c, x, y), f, a = _names(), hl.Func("f"), _interleaved(hl.UInt(8), 3)
    r, g, b = (hl.i16(a[n, x, y]) for n in range(3))
    f[x, y, c] = hl.mux(c, [
        hl.u8((hl.u16(r) * 77 + hl.u16(g) * 150 + hl.u16(b) * 29 + 128) >> 8),
        hl.u8(((b * 127 - r * 43 - g * 84 + 128) >> 8) + 128),
        hl.u8(((r * 127 - g * 106 - b * 21 + 128) >> 8) + 128),
    ])  # fmt: skip
    _by_channel(f, 3, 64 if wide else 32, False)
    return f, a


def _unpack_int4(wide: bool) -> tuple[Any, Any]:
    (c, x, y), f, a = _names(), hl.Func("f"), hl.ImageParam(hl.UInt(8), 2)
    f[c, x, y] = hl.i8(hl.mux(c, [a[x, y] & 15, a[x, y] >> 4])) - hl.i8(8)
    _by_channel(f, 2, 64 if wide else 32, True)
    return f, a


def _complex(wide: bool) -> tuple[Any, Any]:
    (c, x, y), f, a = _names(), hl.Func("f"), _interleaved(hl.Float(32), 2)
    re, im = a[0, x, y], a[1, x, y]
    f[c, x, y] = hl.mux(c, [re * re - im * im, re * im * 2])
    _by_channel(f, 2, 16 if wide else 8, True)
    return f, a


def _reversed_fir(wide: bool) -> tuple[Any, Any]:
    (_, x, y), f, a = _names(), hl.Func("f"), hl.ImageParam(hl.Int(16), 2)
    last = a.dim(0).extent() - 1
    taps = [a[last - n - x, y] * hl.i16(w) for n, w in enumerate((3, 5, 5, 3))]
    f[x, y] = taps[0] + taps[1] + taps[2] + taps[3]
    f.vectorize(x, 32 if wide else 16)
    return f, a


def _structures(wide: bool) -> tuple[Any, Any]:
    (c, x, y), f, a = _names(), hl.Func("f"), _interleaved(hl.Float(32), 3)
    u, v, w = (a[n, x, y] for n in range(3))
    f[c, x, y] = a[c, x, y] / hl.sqrt(u * u + v * v + w * w)
    _by_channel(f, 3, 16 if wide else 8, True)
    return f, a


def _table(t: Any, extent: int, divisor: int, wide: bool) -> tuple[Any, Any]:
    (_, x, y), f, a = _names(), hl.Func("f"), hl.ImageParam(t, 2)
    table, i = hl.Func("table"), hl.Var("i")
    table[i] = hl.u8(i * i / divisor)
    at = hl.i32(a[x, y])
    f[x, y] = table[at % extent if extent < 256 else hl.clamp(at, 0, extent - 1)]
    table.bound(i, 0, extent).compute_root().vectorize(i, 4)
    f.vectorize(x, 64 if wide else 32)
    return f, a


KERNELS: dict[str, Callable[[bool], tuple[Any, Any]]] = {
    "transpose_f32": lambda wide: _transpose(hl.Float(32), 16 if wide else 8),
    "transpose_u8": lambda wide: _transpose(hl.UInt(8), 32 if wide else 16),
    "rgb_to_planar": _rgb_to_planar, "planar_to_rgb": _planar_to_rgb, "rgb_to_y": _rgb_to_y,
    "rgb_to_yuv": _rgb_to_yuv, "unpack_int4": _unpack_int4, "complex": _complex,
    "reversed_fir": _reversed_fir, "structures": _structures,
    "table_100": lambda wide: _table(hl.UInt(8), 100, 255, wide),
    "table_256": lambda wide: _table(hl.UInt(8), 256, 255, wide),
    "table_1024": lambda wide: _table(hl.Int(16), 1024, 4108, wide),
}  # fmt: skip
