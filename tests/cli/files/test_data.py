"""Pins how .npy files, pictures and sounds become arrays, and how arrays become files."""

import struct
import wave
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from hbc.cli.files.data import read_array, write_array
from hbc.frontend.program.funcs import Image
from hbc.ir.ground.diag import HbcError
from hbc.ir.lang.nodes import Expr, Var, const_index
from hbc.ir.lang.types import (
    BF16,
    BOOL,
    DTYPES,
    F8E4M3,
    F8E5M2,
    F16,
    F32,
    F64,
    I16,
    I32,
    U8,
    U16,
    DType,
)
from hbc.ir.meaning.numpy_types import numpy_dtype

RANDOM = np.random.default_rng(1)


def image(element: DType, *extents: str | int) -> Image:
    """`A: element[extents]`; integers are literals, strings are sizes."""
    found: list[Expr] = [Var(e) if isinstance(e, str) else const_index(e) for e in extents]
    return Image("A", element, tuple(found))


def array(element: DType, *shape: int) -> Any:
    return (RANDOM.random(shape) * 100).astype(numpy_dtype(element))


@pytest.mark.parametrize("element", DTYPES.values(), ids=str)
def test_npy_round_trip(tmp_path: Path, element: DType) -> None:
    path, values = tmp_path / "a.npy", array(element, 3, 4)
    write_array(path, image(element, "M", "N"), values, None)
    loaded = read_array(path, image(element, "M", "N")).array
    assert loaded.dtype == values.dtype
    assert np.array_equal(loaded, values)
    assert list(tmp_path.iterdir()) == [path]


def test_npy_keeps_nan_and_infinity(tmp_path: Path) -> None:
    values = np.array([np.nan, np.inf, -np.inf, -0.0], np.float32)
    write_array(tmp_path / "a.npy", image(F32, "N"), values, None)
    loaded = read_array(tmp_path / "a.npy", image(F32, "N")).array
    assert loaded.tobytes() == values.tobytes()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_npy_empty(tmp_path: Path, shape: tuple[int, ...]) -> None:
    np.save(tmp_path / "a.npy", np.zeros(shape, np.float32))
    assert read_array(tmp_path / "a.npy", image(F32, "M", "N")).array.shape == shape


def test_npy_in_other_orders(tmp_path: Path) -> None:
    values = array(F32, 3, 4)
    np.save(tmp_path / "a.npy", np.asfortranarray(values.astype(">f4")))
    loaded = read_array(tmp_path / "a.npy", image(F32, "M", "N")).array
    assert loaded.flags.c_contiguous
    assert loaded.dtype == np.float32
    assert np.array_equal(loaded, values)


@pytest.mark.parametrize("element", [BF16, F8E4M3, F8E5M2], ids=str)
def test_npy_of_ml_dtypes_as_numpy_saves_it(tmp_path: Path, element: DType) -> None:
    values = array(element, 5)
    np.save(tmp_path / "a.npy", values)
    loaded = read_array(tmp_path / "a.npy", image(element, "N")).array
    assert loaded.dtype == values.dtype
    assert np.array_equal(loaded, values)


@pytest.mark.parametrize(
    ("values", "declared", "said"),
    [
        (np.zeros(3, np.float64), image(F32, "N"), "holds float64, but `A` is f32"),
        (np.zeros(3, np.int16), image(BF16, "N"), "holds int16, but `A` is bf16"),
        (np.zeros(3, np.int8), image(F8E5M2, "N"), "holds int8, but `A` is f8e5m2"),
        (np.zeros(3, np.float32), image(F8E4M3, "N"), r"ml_dtypes.float8_e4m3fn\).view\(np.uint8"),
        (np.zeros(3, np.float32), image(F32, "M", "N"), r"has 1 dimension \[3\], but `A` has 2"),
        (np.zeros((1, 3), np.float32), image(F32, "N"), r"has 2 dimensions \[1, 3\]"),
    ],
)
def test_npy_that_does_not_fit(tmp_path: Path, values: Any, declared: Image, said: str) -> None:
    np.save(tmp_path / "a.npy", values)
    with pytest.raises(HbcError, match=said):
        read_array(tmp_path / "a.npy", declared)


@pytest.mark.parametrize("name", ["a.npy", "a.png", "a.jpg", "a.wav"])
@pytest.mark.parametrize("content", [None, b"", b"not what the name says", b"\x93NUMPY\x01\x00"])
def test_unreadable_files(tmp_path: Path, name: str, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(HbcError, match=r"cannot read .* for `A`"):
        read_array(tmp_path / name, image(F32, "M", "N"))


def test_objects_in_npy_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(HbcError, match="cannot read"):
        read_array(tmp_path / "a.npy", image(F32, "N"))


def test_unknown_suffix(tmp_path: Path) -> None:
    with pytest.raises(HbcError, match=r"no format has the suffix `.pgn`\nhint: did you mean"):
        read_array(tmp_path / "a.pgn", image(F32, "M", "N"))


@pytest.mark.parametrize("element", [U8, U16, F16, BF16, F32, F64], ids=str)
@pytest.mark.parametrize("extents", [("H", "W"), ("H", "W", 3), ("H", "W", 4), (3, "H", "W")])
def test_picture_round_trip(tmp_path: Path, element: DType, extents: tuple[str | int, ...]) -> None:
    """Every level survives, whatever type it passes through."""
    levels = np.arange(256, dtype=np.uint8).reshape(8, 32)
    if len(extents) == 3:
        channels = 3 if extents[0] == 3 else extents[2]
        shift = np.arange(channels, dtype=np.uint8) * 5
        levels = levels[:, :, None] + shift
    Pillow.fromarray(levels).save(tmp_path / "in.png")
    declared = image(element, *extents)
    loaded = read_array(tmp_path / "in.png", declared).array
    assert loaded.dtype == numpy_dtype(element)
    top = {U8: 255, U16: 65535}.get(element, 1)
    assert float(loaded.max()) == top
    write_array(tmp_path / "out.png", declared, loaded, None)
    again = np.asarray(Pillow.open(tmp_path / "out.png"))
    if again.dtype != np.uint8:
        again = again // 257
    assert np.array_equal(again, levels)


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "P", "1", "LA", "CMYK"])
@pytest.mark.parametrize("extents", [("H", "W"), ("H", "W", 1), ("H", "W", 3), ("H", "W", 4)])
def test_pictures_are_adapted_to_the_declaration(
    tmp_path: Path, mode: str, extents: tuple[str | int, ...]
) -> None:
    suffix = "tif" if mode == "CMYK" else "png"
    Pillow.new(mode, (6, 4)).save(tmp_path / f"in.{suffix}")
    loaded = read_array(tmp_path / f"in.{suffix}", image(U8, *extents)).array
    assert loaded.shape == (4, 6, *extents[2:])


@pytest.mark.parametrize(("mode", "channels"), [("L", 1), ("RGB", 3), ("RGBA", 4)])
def test_a_free_number_of_channels_is_that_of_the_file(
    tmp_path: Path, mode: str, channels: int
) -> None:
    Pillow.new(mode, (6, 4)).save(tmp_path / "in.png")
    loaded = read_array(tmp_path / "in.png", image(F32, "H", "W", "C")).array
    assert loaded.shape == (4, 6, channels)


def test_sixteen_bit_pictures_keep_their_bits(tmp_path: Path) -> None:
    values = np.arange(12, dtype=np.uint16).reshape(3, 4) * 5000
    write_array(tmp_path / "a.png", image(U16, "H", "W"), values, None)
    assert np.array_equal(read_array(tmp_path / "a.png", image(U16, "H", "W")).array, values)


def test_picture_values_are_rounded_and_clamped(tmp_path: Path) -> None:
    values = np.array([[-1, 0.5 / 255, 0.51 / 255, 1, 2, np.nan, np.inf, -np.inf]], np.float32)
    write_array(tmp_path / "a.png", image(F32, "H", "W"), values, None)
    expected = [[0, 0, 1, 255, 255, 0, 255, 0]]
    assert np.asarray(Pillow.open(tmp_path / "a.png")).tolist() == expected


@pytest.mark.parametrize(
    ("element", "shape", "name", "said"),
    [
        (I32, (2, 2), "a.png", "i32 is no picture"),
        (F32, (2,), "a.png", "has 2 or 3 dimensions, `A` has 1"),
        (F32, (2, 2, 5), "a.png", "5 channels"),
        (F32, (0, 2), "a.png", "it is empty"),
        (F32, (2, 2, 4), "a.jpg", "JPEG knows no alpha"),
        (I32, (2,), "a.wav", "i32 is no sound"),
        (F32, (2, 2, 2), "a.wav", "has 1 or 2 dimensions, `A` has 3"),
    ],
)
def test_what_is_no_picture_or_sound(
    tmp_path: Path, element: DType, shape: tuple[int, ...], name: str, said: str
) -> None:
    declared = image(element, *(f"N{dim}" for dim in range(len(shape))))
    with pytest.raises(HbcError, match=said):
        write_array(tmp_path / name, declared, array(element, *shape), None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("element", [I16, F32, F64], ids=str)
@pytest.mark.parametrize("extents", [("N",), ("N", 2), (2, "N"), ("N", "C")])
def test_sound_round_trip(tmp_path: Path, element: DType, extents: tuple[str | int, ...]) -> None:
    channels = 1 if len(extents) == 1 else 2
    samples = RANDOM.integers(-32768, 32768, (50, channels)).astype("<i2")
    samples[0] = [-32768] * channels
    samples[1] = [32767] * channels
    _write_wav(tmp_path / "in.wav", samples, 8000)
    loaded = read_array(tmp_path / "in.wav", image(element, *extents))
    assert loaded.rate == 8000
    write_array(tmp_path / "out.wav", image(element, *extents), loaded.array, loaded.rate)
    with wave.open(str(tmp_path / "out.wav")) as file:
        again = np.frombuffer(file.readframes(50), "<i2").reshape(-1, channels)
        assert file.getframerate() == 8000
    assert np.array_equal(again, samples)


def test_sounds_are_adapted_to_the_declaration(tmp_path: Path) -> None:
    _write_wav(tmp_path / "mono.wav", np.array([[16384], [-16384]], "<i2"), 8000)
    _write_wav(tmp_path / "stereo.wav", np.array([[16384, 0], [0, -16384]], "<i2"), 8000)
    doubled = read_array(tmp_path / "mono.wav", image(F32, "N", 2)).array
    assert doubled.tolist() == [[0.5, 0.5], [-0.5, -0.5]]
    mixed = read_array(tmp_path / "stereo.wav", image(F32, "N")).array
    assert mixed.tolist() == [0.25, -0.25]
    with pytest.raises(HbcError, match="it has 2 channels, `A` has 5"):
        read_array(tmp_path / "stereo.wav", image(F32, "N", 5))


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_sounds_of_every_width(tmp_path: Path, width: int) -> None:
    with wave.open(str(tmp_path / "a.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(width)
        file.setframerate(8000)
        half = 192 if width == 1 else 1 << (8 * width - 2)
        file.writeframes(half.to_bytes(width, "little"))
    assert read_array(tmp_path / "a.wav", image(F32, "N")).array.tolist() == [0.5]


@pytest.mark.parametrize("extensible", [False, True])
@pytest.mark.parametrize(("code", "kind"), [(1, "<i2"), (1, "<i4"), (3, "<f4"), (3, "<f8")])
def test_sounds_as_recorders_write_them(
    tmp_path: Path, code: int, kind: str, extensible: bool
) -> None:
    """Floats, the extensible format, a chunk of odd length in front."""
    top = 1.0 if code == 3 else 2.0 ** (8 * np.dtype(kind).itemsize - 1)
    samples = (np.array([[0.5, -0.25], [0.125, -1.0]]) * top).astype(kind)
    width = samples.dtype.itemsize
    described = struct.pack(
        "<HHIIHH", 0xFFFE if extensible else code, 2, 96000, 96000 * 2 * width, 2 * width, 8 * width
    )
    if extensible:
        described += struct.pack("<HHIH14s", 22, 8 * width, 3, code, b"")
    chunks = ((b"LIST", b"odd"), (b"fmt ", described), (b"data", samples.tobytes()))
    body = b"".join(
        name + struct.pack("<I", len(chunk)) + chunk + b"\0" * (len(chunk) % 2)
        for name, chunk in chunks
    )
    (tmp_path / "a.wav").write_bytes(b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body)
    loaded = read_array(tmp_path / "a.wav", image(F32, "N", 2))
    assert loaded.rate == 96000
    assert loaded.array.tolist() == [[0.5, -0.25], [0.125, -1.0]]


def test_a_sound_of_another_kind(tmp_path: Path) -> None:
    described = struct.pack("<HHIIHH", 85, 2, 44100, 0, 1, 0)  # MP3 in a RIFF file
    (tmp_path / "a.wav").write_bytes(
        b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0" + described + b"data\0\0\0\0"
    )
    with pytest.raises(HbcError, match="format 85 with 0 bits, 2 channels, 44100 Hz"):
        read_array(tmp_path / "a.wav", image(F32, "N"))


def test_a_sound_is_clamped(tmp_path: Path) -> None:
    write_array(
        tmp_path / "a.wav", image(F32, "N"), np.array([2, -2, np.nan, 0.5], np.float32), None
    )
    loaded = read_array(tmp_path / "a.wav", image(I16, "N"))
    assert loaded.array.tolist() == [32767, -32768, 0, 16384]
    assert loaded.rate == 44100


@pytest.mark.parametrize("element", [BOOL, I32], ids=str)
def test_types_that_are_no_picture(tmp_path: Path, element: DType) -> None:
    Pillow.new("L", (2, 2)).save(tmp_path / "a.png")
    with pytest.raises(HbcError, match=f"a picture cannot be {element}"):
        read_array(tmp_path / "a.png", image(element, "H", "W"))


def _write_wav(path: Path, samples: Any, rate: int) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_deep_grey_keeps_its_bits_in_colour(tmp_path: Path, channels: int) -> None:
    grey = np.array([[1, 258], [40000, 65535]], np.uint16)
    Pillow.fromarray(grey).save(tmp_path / "a.png")
    loaded = read_array(tmp_path / "a.png", image(U16, "H", "W", channels)).array
    assert loaded.shape == (2, 2, channels)
    assert np.array_equal(loaded[..., min(channels, 3) - 1], grey)
    assert channels < 4 or (loaded[..., 3] == 65535).all()


def test_deep_colours_are_read_with_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 16, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"\0\x80\x12\x40\x34\xff\xff")),
        (b"IEND", b""),
    )
    data = b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)
    (tmp_path / "a.png").write_bytes(data)
    assert read_array(tmp_path / "a.png", image(U8, "H", "W", 3)).array.tolist() == [
        [[128, 64, 255]]
    ]
    assert capsys.readouterr().err == ""
    read_array(tmp_path / "a.png", image(F32, "H", "W", 3))
    assert "is read with 8 of the 16 bits of its colours" in capsys.readouterr().err


def test_npy_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_bytes(b"PNG, really")
    with pytest.raises(HbcError, match=r"it is not a \.npy file"):
        read_array(tmp_path / "a.npy", image(F32, "N"))
    np.savez(tmp_path / "several.npz", a=np.zeros(3), b=np.zeros(3))
    (tmp_path / "several.npz").rename(tmp_path / "b.npy")
    with pytest.raises(HbcError, match="it holds several arrays"):
        read_array(tmp_path / "b.npy", image(F32, "N"))
