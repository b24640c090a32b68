"""Pins that files of unknown origin are refused in a line, whatever stands in them: `.npy` headers, pictures
of other kinds than named, pipes."""

import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

from hbc.cli.files.data import read_array
from hbc.cli.files.npy_file import NpyError, read_npy
from hbc.cli.files.read_source import read_source
from hbc.frontend.checks.check import check
from hbc.frontend.isa.load import load_instructions
from hbc.frontend.program.funcs import Image
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def declared(extents: str) -> Image:
    text = f"size H, W\ninput A: f32[{extents}]\noutput O: f32[H, W]\nO[y, x] = f32(H)\n"
    return check(parse(Source("k.hb", text)), {}).inputs[0]


def header(text: str, version: tuple[int, int] = (1, 0), length: int | None = None) -> bytes:
    size = len(text) if length is None else length
    counted = struct.pack("<H" if version == (1, 0) else "<I", size)
    return b"\x93NUMPY" + bytes(version) + counted + text.encode() + b"\0" * 64


def described(shape: str = "(4,)", descr: str = "'<f4'", more: str = "") -> str:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, {more}}}\n"


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 5), (4, 3, 2)])
@pytest.mark.parametrize("kind", ["f4", ">f4", "u1", "?", "f8", "V2", ">i2"])
def test_as_numpy_reads_them(tmp_path: Path, kind: str, shape: tuple[int, ...], order: str) -> None:
    source = np.random.default_rng(5)
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    values = np.frombuffer(source.bytes(size), kind).reshape(shape)
    if kind == "?":
        values = values.view(np.uint8) % 2 == 0
    np.save(tmp_path / "a.npy", np.asarray(values, order=order))  # type: ignore[call-overload]
    ours, theirs = read_npy(tmp_path / "a.npy"), np.load(tmp_path / "a.npy")
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize(
    "content",
    [
        *(header(described(shape)) for shape in (
            "(True,)", "(" * 4000, "(" * 4000 + "4" + ")" * 4000, "(-4,)", "(4.0,)", "('a',)", "4",
            "(99999999999999999999,)", "(0, 9223372036854775807, 9223372036854775807)",
            "(4611686018427387904,)", "(1<<3,)", "(1,)*99", "(17,)", "None", "9" * 5000,
        )),
        *(header(described(descr=descr)) for descr in (
            "'O'", "[('a','<f4')]", "'<U100000000'", "7", "'<f4,<f4'", "'<q9'", "'('", "{'names': 1}",
        )),
        header(described(more="'x': 1")), header("[1]\n"), header("{"), header(described(), (9, 0)),
        header(described(), length=60_000), header(described(), (2, 0), 1 << 31),
        header("{1: 2", (3, 0)), header("x" * 20_000, (2, 0)),
        b"PK\x03\x04", b"PK\x03\x04" + b"\0" * 60, b"PK\x05\x06", b"\x93NUMPY", b"",
        b"\x93NUMPY\x03\x00\x04\x00\x00\x00\xff\xfe\xff\xff",
    ],
    ids=str,
)  # fmt: skip
def test_npy_headers(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(NpyError) as raised:
        read_npy(tmp_path / "a.npy")
    assert len(str(raised.value).splitlines()) == 1


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


@pytest.mark.parametrize(
    ("kind", "prefix"), [(b"zTXt", b"k\0\0"), (b"iTXt", b"k\0\1\0\0\0"), (b"iCCP", b"k\0\0")]
)
def test_text_that_unpacks_to_much(tmp_path: Path, kind: bytes, prefix: bytes) -> None:
    rows = zlib.compress(bytes(5 * 4))
    head = struct.pack(">IIBBBBB", 4, 4, 8, 0, 0, 0, 0)
    text = chunk(kind, prefix + zlib.compress(bytes(100_000_000)))
    end = chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    (tmp_path / "a.png").write_bytes(SIGNATURE + chunk(b"IHDR", head) + text + end)
    with pytest.raises(HbcError, match="it is not a picture that can be read"):
        read_array(tmp_path / "a.png", declared("H, W"))


@pytest.mark.parametrize("kind", [b"IHDR", b"tEXt", b"IDAT", b"IEND"])
@pytest.mark.parametrize("where", ["content", "checksum"])
def test_a_checksum_that_is_wrong(tmp_path: Path, kind: bytes, where: str) -> None:
    """The chunk is named, whether what it holds or its checksum was damaged."""
    rows = zlib.compress(b"\0\1\2\3\4" * 4)
    head = struct.pack(">IIBBBBB", 4, 4, 8, 0, 0, 0, 0)
    content = {b"IHDR": head, b"tEXt": b"k\0text", b"IDAT": rows, b"IEND": b""}
    whole = {k: chunk(k, data) for k, data in content.items()}
    (tmp_path / "a.png").write_bytes(SIGNATURE + b"".join(whole.values()))
    assert read_array(tmp_path / "a.png", declared("H, W")).array.shape == (4, 4)
    at = -1 if where == "checksum" or not content[kind] else 8 + len(content[kind]) // 2
    damaged = bytearray(whole[kind])
    damaged[at] ^= 0x15
    whole[kind] = bytes(damaged)
    (tmp_path / "a.png").write_bytes(SIGNATURE + b"".join(whole.values()))
    said = (
        f"it is damaged: its chunk `{kind.decode()}` has not the checksum that it was written with"
    )
    with pytest.raises(HbcError, match=said):
        read_array(tmp_path / "a.png", declared("H, W"))


def test_damage_anywhere_in_a_picture(tmp_path: Path) -> None:
    """Whatever the bytes, a picture or a message."""
    source = np.random.default_rng(11)
    for suffix in ("png", "jpg", "bmp", "tif", "webp", "ppm"):
        path = tmp_path / f"a.{suffix}"
        Pillow.fromarray(source.integers(0, 255, (9, 7, 3), np.uint8)).save(path)
        whole = np.frombuffer(path.read_bytes(), np.uint8)
        for _ in range(60):
            damaged = whole.copy()
            at = source.integers(0, min(len(whole), 200), 3)
            damaged[at] = source.integers(0, 256, 3, np.uint8)
            path.write_bytes(damaged.tobytes())
            try:
                assert read_array(path, declared("H, W")).array.ndim == 2
            except HbcError as refused:
                assert len(refused.diagnostics) == 1


@pytest.mark.parametrize("kind", ["gif", "ico", "pcx", "tga", "sgi", "dds", "eps"])
def test_other_kinds_of_pictures_are_not_opened(tmp_path: Path, kind: str) -> None:
    """Of EPS, Pillow would have Ghostscript execute the program in it."""
    Pillow.new("RGB", (4, 4)).save(tmp_path / f"a.{kind}")
    (tmp_path / f"a.{kind}").rename(tmp_path / "a.png")
    with pytest.raises(HbcError, match="it is not a picture that can be read"):
        read_array(tmp_path / "a.png", declared("H, W"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["a.npy", "a.png", "a.wav", "a.hb"])
def test_pipes_without_an_end(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(HbcError, match="it is a pipe, not a file"):
        if name == "a.hb":
            read_source(tmp_path / name)
        else:
            read_array(tmp_path / name, declared("H, W"))
    with pytest.raises(HbcError, match="it is a pipe, not a file"):
        load_instructions([tmp_path / name])


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="this system hands over no open files")
def test_what_the_shell_hands_over_is_read() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"size N\r\n")
    os.close(writing)
    try:
        assert read_source(Path(f"/dev/fd/{reading}")) == "size N\n"
    finally:
        os.close(reading)
