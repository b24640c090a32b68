"""FLAC and OGG files as inputs and outputs: what soundfile itself reads and writes decides."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hbc.cli.files.data import check_writable, read_array, write_array
from hbc.frontend.program.funcs import Image
from hbc.ir.ground.diag import HbcError, ToolError
from hbc.ir.lang.nodes import Var, const_index
from hbc.ir.lang.types import F32, F64, I16, DType

soundfile: Any = pytest.importorskip("soundfile", reason="reads and writes the files: hbc[sound]")
RANDOM = np.random.default_rng(9)


def image(element: DType, *extents: str | int) -> Image:
    return Image(
        "A", element, tuple(Var(e) if isinstance(e, str) else const_index(e) for e in extents)
    )


def chord(frames: int, channels: int) -> Any:
    """Half as loud as can be, [frames, channels]."""
    time = np.arange(frames)[:, None] / 8000
    return np.sin(2 * np.pi * time * np.array([220.0, 330.0])[:channels]) / 2


@pytest.mark.parametrize("element", [I16, F32, F64], ids=str)
@pytest.mark.parametrize("extents", [("N",), ("N", 2), (2, "N"), ("N", "C")])
def test_flac_loses_nothing(tmp_path: Path, element: DType, extents: tuple[str | int, ...]) -> None:
    channels = 1 if len(extents) == 1 else 2
    samples = RANDOM.integers(-32768, 32768, (3000, channels)).astype(np.int16)
    samples[:2] = [[-32768] * channels, [32767] * channels]
    soundfile.write(tmp_path / "in.flac", samples, 11025, subtype="PCM_16")
    loaded = read_array(tmp_path / "in.flac", image(element, *extents))
    assert loaded.rate == 11025
    held = loaded.array.T if extents[0] == 2 else loaded.array.reshape(-1, channels)
    want = samples if element == I16 else samples / 32768
    np.testing.assert_array_equal(held, want)
    write_array(tmp_path / "out.flac", image(element, *extents), loaded.array, loaded.rate)
    again, rate = soundfile.read(tmp_path / "out.flac", dtype="int16", always_2d=True)
    np.testing.assert_array_equal(again, samples)
    assert rate == 11025


@pytest.mark.parametrize("channels", [1, 2])
def test_ogg_sounds_the_same(tmp_path: Path, channels: int) -> None:
    """More than one block of frames; Vorbis of this quality keeps such a chord to a hundredth."""
    whole = chord(150_000, channels).astype(np.float32)
    write_array(tmp_path / "a.ogg", image(F32, "N", "C"), whole, 8000)
    assert soundfile.info(tmp_path / "a.ogg").subtype == "VORBIS"
    heard, rate = soundfile.read(tmp_path / "a.ogg", always_2d=True)
    assert (heard.shape, rate) == (whole.shape, 8000)
    assert np.sqrt(np.mean((heard - whole) ** 2)) < 0.01
    loaded = read_array(tmp_path / "a.ogg", image(F32, "N", "C"))
    np.testing.assert_array_equal(loaded.array, heard.astype(np.float32))


def test_24_bits_are_read(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.flac", np.array([0.5, -0.5 + 2.0**-23]), 8000, subtype="PCM_24")
    found = read_array(tmp_path / "a.flac", image(F64, "N")).array
    assert found.tolist() == [0.5, -0.5 + 2.0**-23]


@pytest.mark.parametrize("kind", ["flac", "ogg"])
def test_files_that_are_none(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"a.{kind}"
    path.write_bytes(b"no sound")
    said = f"it is no {kind.upper()} file that can be read"
    with pytest.raises(HbcError, match=said):
        read_array(path, image(F32, "N"))
    soundfile.write(path, chord(20_000, 1), 8000)
    path.write_bytes(path.read_bytes()[:6000])
    if kind == "flac":  # an OGG file says nowhere how long it is
        with pytest.raises(HbcError, match=said):
            read_array(path, image(F32, "N"))


def test_more_channels_than_the_format_has(tmp_path: Path) -> None:
    with pytest.raises(HbcError, match=r"cannot write `A` to .*a\.flac`: "):
        write_array(tmp_path / "a.flac", image(F32, "N", 9), np.zeros((5, 9), np.float32), None)
    assert list(tmp_path.iterdir()) == []


def test_without_the_package_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the kernel runs, of an output too."""
    (tmp_path / "a.ogg").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "soundfile", None)
    for ask in (
        lambda: read_array(tmp_path / "a.ogg", image(F32, "N")),
        lambda: check_writable({"A": tmp_path / "b.flac"}, (image(F32, "N"),)),
    ):
        with pytest.raises(ToolError, match=r"takes the package soundfile(.|\n)*hbc\[sound\]"):
            ask()


def test_run_takes_and_writes_them(hbc: Callable[..., Any], tmp_path: Path) -> None:
    kernel = tmp_path / "louder.hb"
    kernel.write_text("size N, C\ninput I: f32[N, C]\noutput O: f32[N, C]\nO[i, c] = I[i, c] * 2\n")
    samples = np.round(chord(2000, 2) * 16384).astype(np.int16)
    soundfile.write(tmp_path / "in.flac", samples, 22050)
    arguments = ["--input", tmp_path / "in.flac", "--output", tmp_path / "out.flac"]
    done = hbc("run", kernel, "--target", "c", "--schedule", "none", *arguments)
    assert done.code == 0, done.err
    found, rate = soundfile.read(tmp_path / "out.flac", dtype="int16")
    np.testing.assert_array_equal(found, samples * 2)
    assert rate == 22050
