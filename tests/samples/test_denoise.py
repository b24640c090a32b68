"""Denoising is good, not only what its formula says: flat areas and ramps stay, a photograph gains.

Of all variants; that their code computes what the oracle does is tested elsewhere.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image
from sample_table import FOLDER, Array, load

from hbc.cli.main import exit_code_of
from hbc.frontend.oracle.oracle import evaluate

VARIANTS = ["denoise", "denoise_bf16", "cuda/denoise"]
PHOTOGRAPH = FOLDER / "data" / "astronaut.png"
MOST = 2 / 255  # that a ramp may change by


@pytest.fixture(scope="module")
def demo() -> ModuleType:
    """The script beside the samples."""
    spec = importlib.util.spec_from_file_location("demo", FOLDER / "demo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def denoised(name: str, picture: Array) -> Array:
    """By the oracle."""
    height, width, _ = picture.shape
    inputs = {"I": picture.astype(np.float32)}
    found: Array = evaluate(load(name), {"H": height, "W": width}, inputs)["O"].value
    return found.astype(np.float64)


def colours(plane: Array) -> Array:
    """Of three channels: the plane, its negative, the plane."""
    return np.stack([plane, 1 - plane, plane], axis=2)


@pytest.mark.parametrize("name", VARIANTS)
def test_flat_pictures_stay(name: str) -> None:
    """Dark ones too, whose mean is less than the threshold."""
    for level in [0, 1 / 255, 3 / 255, 0.3, 0.7, 1, *np.random.default_rng(1).random(10)]:
        picture = colours(np.full((37, 29), level))
        assert np.abs(denoised(name, picture) - picture).max() <= 1 / 255, level


@pytest.mark.parametrize("name", VARIANTS)
def test_a_ramp_across_a_picture_stays(name: str) -> None:
    """From black to white over 512 pixels, the borders and their mirrored tiles included."""
    for shape in (24, 512), (512, 24):
        y, x = np.mgrid[: shape[0], : shape[1]]
        picture = colours((x if shape[1] == 512 else y) / 511)
        assert np.abs(denoised(name, picture) - picture).max() <= MOST


@pytest.mark.parametrize("name", VARIANTS)
def test_steep_ramps_stay_away_from_the_border(name: str) -> None:
    """In any direction. At the border a mirrored ramp has a kink, which is rounded off."""
    random = np.random.default_rng(2)
    y, x = np.mgrid[-24:24, -24:24]
    for steepest in (0.001, 0.003, 0.01):
        for _ in range(5):
            down, right = random.uniform(-steepest, steepest, 2)
            picture = colours(0.5 + down * y + right * x)
            off = np.abs(denoised(name, picture) - picture)[16:-16, 16:-16]
            assert off.max() <= MOST, (down, right)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_photograph_gains(name: str, demo: ModuleType) -> None:
    original = np.asarray(Image.open(PHOTOGRAPH))
    noisy = demo.add_noise(original)
    found = denoised(name, noisy / 255)
    levels = np.rint(np.clip(found, 0, 1) * 255).astype(np.uint8)
    assert 22.5 <= demo.psnr(original, noisy) <= 22.9
    assert demo.psnr(original, levels) >= demo.psnr(original, noisy) + 5


def test_the_demo(tmp_path: Path, demo: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """What `make demo` runs, with native code."""
    noisy, found, beside = (str(tmp_path / f"{n}.png") for n in ("noisy", "denoised", "compared"))
    demo.main("noise", str(PHOTOGRAPH), noisy)
    words = ["run", str(FOLDER / "denoise.hb"), "--input", noisy, "--output", found, "--no-verify"]
    assert exit_code_of(words) == 0, capsys.readouterr().err
    capsys.readouterr()
    demo.main("compare", str(PHOTOGRAPH), noisy, found, beside)
    before, after = (float(line.split()[1]) for line in capsys.readouterr().out.splitlines())
    assert after >= before + 5
    with Image.open(beside) as picture:
        assert picture.size == (3 * 512, 512)
