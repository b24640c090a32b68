"""Pins what is said where a file has less than it should, or has no room for what is there."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

Command = Callable[..., Any]
RANDOM = np.random.default_rng(5)
COPY = """
size H, W
input I: {0}
output O: {0}
O[{1}] = I[{1}]
"""
TWO = """
size N
input I: f32[N]
output O: f32[N]
output P: f32[N]
O[i] = I[i] + 1
P[i] = I[i] + 2
example { N = 5; I = random(1) }
"""


def png(width: int, height: int, rows: bytes, bits: int = 8, interlaced: int = 0) -> bytes:
    """A grey picture whose compressed data are `rows`, whatever its header says."""

    def chunk(name: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(name + data))
        return struct.pack(">I", len(data)) + name + data + check

    header = struct.pack(">IIBBBBB", width, height, bits, 0, 0, 0, interlaced)
    packed = zlib.compress(rows)
    parts = (b"IHDR", header), (b"IDAT", packed[:9]), (b"IDAT", packed[9:]), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def copy(folder: Path, declared: str) -> Path:
    """A kernel that copies an array."""
    rank = declared.count(",") + 1
    file = folder / "copy.hb"
    text = COPY.format(declared, "y, x, c"[: 3 * rank - 2])
    file.write_text(text if rank > 1 else text.replace("size H, W", "size N"), encoding="utf-8")
    return file


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("bits", [1, 8, 16])
def test_a_png_without_its_last_rows(hbc: Command, tmp_path: Path, rows: int, bits: int) -> None:
    """Its chunks are whole and their sums right: Pillow leaves these rows black."""
    row = b"\0" + RANDOM.bytes(-(-11 * bits // 8))
    kernel, file = copy(tmp_path, "u8[H, W]"), tmp_path / "in.png"
    file.write_bytes(png(11, 4, row * rows, bits))
    done = hbc(
        "run",
        kernel,
        "--schedule",
        "none",
        "--target",
        "c",
        "--input",
        file,
        "--output",
        tmp_path / "out.png",
    )
    assert done.code == 1
    assert f"cannot read `{file}` for `I`: it is cut off: rows at its end are missing" in done.err
    assert not (tmp_path / "out.png").exists()
    file.write_bytes(png(11, 4, row * 4, bits))
    done = hbc(
        "run",
        kernel,
        "--schedule",
        "none",
        "--target",
        "c",
        "--input",
        file,
        "--output",
        tmp_path / "out.png",
    )
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (5, 9), (8, 8), (13, 7)])
def test_an_interlaced_png(hbc: Command, tmp_path: Path, size: tuple[int, int]) -> None:
    """Seven passes, of which small pictures have fewer; without its last byte it is cut off."""
    width, height = size
    passes = [
        (0, 0, 8, 8),
        (4, 0, 8, 8),
        (0, 4, 4, 8),
        (2, 0, 4, 4),
        (0, 2, 2, 4),
        (1, 0, 2, 2),
        (0, 1, 1, 2),
    ]
    data = b""
    for x, y, across, down in passes:
        columns, rows = len(range(x, width, across)), len(range(y, height, down))
        data += (b"\0" + b"\x55" * columns) * rows if columns else b""
    kernel, file = copy(tmp_path, "u8[H, W]"), tmp_path / "in.png"
    for whole in (True, False):
        file.write_bytes(png(width, height, data if whole else data[:-1], interlaced=1))
        out = tmp_path / "out.png"
        done = hbc(
            "run", kernel, "--schedule", "none", "--target", "c", "--input", file, "--output", out
        )
        assert (done.code == 0) == whole
        assert ("it is cut off" in done.err) != whole
    assert (np.asarray(Pillow.open(out)) == 0x55).all()


@pytest.mark.parametrize("suffix", ["png", "jpg", "bmp", "tif", "webp", "ppm", "npy", "wav"])
def test_a_file_that_is_cut_off(hbc: Command, tmp_path: Path, suffix: str) -> None:
    """Anywhere in its data: one line, and nothing is written."""
    file, out = tmp_path / f"in.{suffix}", tmp_path / "out.npy"
    declared = "f32[N]" if suffix == "wav" else "u8[H, W, 3]"
    picture = RANDOM.integers(0, 256, (40, 50, 3)).astype(np.uint8)
    if suffix == "npy":
        np.save(file, picture)
    elif suffix == "wav":
        sound = RANDOM.bytes(2000)
        described = struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16)
        body = b"WAVEfmt \x10\0\0\0" + described + b"data" + struct.pack("<I", len(sound)) + sound
        file.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)
    else:
        Pillow.fromarray(picture).save(file)
    kernel, whole = copy(tmp_path, declared), file.read_bytes()
    words = ("run", kernel, "--schedule", "none", "--target", "c", "--input", file, "--output", out)
    assert hbc(*words).code == 0
    out.unlink()
    for left in (len(whole) - 40, len(whole) * 3 // 4, len(whole) // 2):
        file.write_bytes(whole[:left])
        done = hbc(*words)
        assert done.code == 1, left
        assert done.err.startswith(f"{kernel}:3:7: error: cannot read `{file}` for `I`: ")
        assert not out.exists()


def test_a_sound_that_is_cut_off_says_how_much_is_there(hbc: Command, tmp_path: Path) -> None:
    """Nothing where the length is not known, as of what comes out of a pipe."""
    described = struct.pack("<HHIIHH", 1, 2, 8000, 32000, 4, 16)
    start = b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0" + described + b"data"
    kernel, file = copy(tmp_path, "i16[N, 2]"), tmp_path / "in.wav"
    kernel.write_text(kernel.read_text().replace("H, W", "N"), encoding="utf-8")
    out = tmp_path / "out.npy"
    said = {
        struct.pack("<I", 12) + bytes(8): "it is cut off: 8 of 12 bytes of samples are there",
        struct.pack("<I", 7) + bytes(7): "it is cut off within a sample",
        b"\xff\xff\xff\xff" + bytes(8): "",
    }
    for data, expected in said.items():
        file.write_bytes(start + data)
        done = hbc(
            "run", kernel, "--schedule", "none", "--target", "c", "--input", file, "--output", out
        )
        assert expected in done.err
        assert (done.code == 0) == (expected == "")
    assert np.load(out).shape == (2, 2)


def test_two_outputs_into_one_file(hbc: Command, tmp_path: Path) -> None:
    """By whatever names: neither is written."""
    kernel = tmp_path / "two.hb"
    kernel.write_text(TWO, encoding="utf-8")
    (tmp_path / "link.npy").symlink_to("x.npy")
    for other in ("x.npy", "./x.npy", "link.npy", f"../{tmp_path.name}/x.npy"):
        first, second = f"O={tmp_path}/x.npy", f"P={tmp_path}/{other}"
        done = hbc("run", kernel, "--schedule", "none", "--output", first, "--output", second)
        assert done.code == 2
        assert done.err.startswith(f"error: `--output {first}` and `--output P={tmp_path}/")
        assert "` are one file\nhint: each output needs a file of its own" in done.err
        assert not (tmp_path / "x.npy").exists()


def test_an_output_may_replace_an_input(hbc: Command, tmp_path: Path) -> None:
    """All inputs are read before; also large ones, which are mapped."""
    kernel, file = tmp_path / "two.hb", tmp_path / "x.npy"
    kernel.write_text(TWO, encoding="utf-8")
    values = RANDOM.random(100_000).astype(np.float32)
    np.save(file, values)
    assert (
        hbc("run", kernel, "--schedule", "none", "--input", file, "--output", f"O={file}").code == 0
    )
    assert np.array_equal(np.load(file), values + np.float32(1))


@pytest.mark.parametrize(
    ("mode", "declared", "said"),
    [
        ("RGB", "u8[H, W]", "has colours, of which `I` gets the brightness alone"),
        ("RGB", "f32[H, W, 1]", "has colours, of which `I` gets the brightness alone"),
        ("P", "u8[H, W]", "has colours, of which `I` gets the brightness alone"),
        ("grey RGB", "u8[H, W]", ""),
        ("L", "u8[H, W]", ""),
        ("L", "u8[H, W, 3]", ""),
        ("RGB", "u8[H, W, 3]", ""),
        ("RGBA", "u8[H, W, 3]", "is transparent in places, which `I` does not get"),
        ("RGBA", "u8[H, W, 4]", ""),
        ("opaque RGBA", "u8[H, W, 3]", ""),
    ],
)
def test_what_a_picture_loses(
    hbc: Command, tmp_path: Path, mode: str, declared: str, said: str
) -> None:
    picture = Pillow.fromarray(RANDOM.integers(0, 256, (4, 5, 4)).astype(np.uint8))
    if mode.startswith("grey"):
        picture = picture.convert("L")
    elif mode == "P":
        picture = picture.convert("RGB")
    elif mode.startswith("opaque"):
        picture.putalpha(255)
    file = tmp_path / "in.png"
    picture.convert(mode.split()[-1]).save(file)
    kernel = copy(tmp_path, declared)
    done = hbc("run", kernel, "--schedule", "none", "--target", "c", "--input", file)
    assert done.code == 0
    assert done.err == (f"note: {file} {said}\n" if said else "")


def test_channels_that_become_one(hbc: Command, tmp_path: Path) -> None:
    described = struct.pack("<HHIIHH", 1, 2, 8000, 32000, 4, 16)
    body = b"WAVEfmt \x10\0\0\0" + described + b"data\x08\0\0\0" + bytes(8)
    (tmp_path / "in.wav").write_bytes(b"RIFF\x24\0\0\0" + body)
    kernel = copy(tmp_path, "f32[N]")
    done = hbc("run", kernel, "--schedule", "none", "--target", "c", "--input", tmp_path / "in.wav")
    assert "in.wav has 2 channels, of which `I` gets the mean" in done.err


@pytest.mark.parametrize(
    ("suffix", "declared", "values", "said"),
    [
        ("wav", "f32[N]", [0, 1, -1], ""),
        ("wav", "f32[N]", [0, 17.5, -1, 0], "is clipped: 25 % of `O` is outside of -1 .. 1, from -1 to 17.5"),
        ("wav", "f32[N]", [0, np.nan], "`O` has NaN, which is written as 0"),
        ("png", "f32[H, W]", [[1.01] + [0.5] * 19], ""),
        ("png", "f32[H, W]", [[200, 100, 0, 0]], "is clipped: 50 % of `O` is outside of 0 .. 1"),
        ("png", "f32[H, W]", [[np.nan, 0]], "`O` has NaN, which is written as 0"),
    ],
)  # fmt: skip
def test_what_is_clipped(
    hbc: Command, tmp_path: Path, suffix: str, declared: str, values: list[float], said: str
) -> None:
    np.save(tmp_path / "in.npy", np.array(values, np.float32))
    kernel, out = copy(tmp_path, declared), tmp_path / f"out.{suffix}"
    done = hbc(
        "run",
        kernel,
        "--schedule",
        "none",
        "--target",
        "c",
        "--input",
        tmp_path / "in.npy",
        "--output",
        out,
    )
    assert done.code == 0
    assert (done.err == "") == (said == "")
    assert said in done.err
