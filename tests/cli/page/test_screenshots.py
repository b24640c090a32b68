"""The page in a real browser, light and dark, wide and narrow: nothing is cut off at the side, colours follow
what the reader prefers, and text can be told from its background."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hbc.cli.main import exit_code_of

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
SAMPLES = Path(__file__).parents[3] / "samples"
HEIGHT = 900
# How far the page reaches beyond the window, and the widest line of the C beyond its pane.
ASKED = """<script>
const pane = document.querySelector(".made");
const beyond = document.documentElement.scrollWidth - innerWidth;
document.title = `${beyond} ${pane.scrollWidth - pane.clientWidth}`;
</script></body>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    kernel = str(SAMPLES / "gemm_f32.hb")
    assert (
        exit_code_of(["compile", kernel, "--target", "avx2", "--emit", "html", "-o", str(folder)])
        == 0
    )
    file = folder / "gemm_f32.html"
    file.write_text(file.read_text(encoding="utf-8").replace("</body>", ASKED), encoding="utf-8")
    return file


def browser(page: Path, width: int, dark: bool, *asked: str) -> str:
    assert CHROMIUM is not None
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    size = f"--window-size={width},{HEIGHT}"
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", scheme, size,
         *asked, page.as_uri()],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
@pytest.mark.parametrize("width", [1400, 700])
def test_nothing_is_cut_off(page: Path, width: int) -> None:
    """At any width the page itself does not scroll sideways; a narrow one wraps its lines."""
    text = browser(page, width, False, "--dump-dom")
    beyond, lines = map(int, text.partition("<title>")[2].partition("</title>")[0].split())
    assert beyond <= 0
    if width < 800:
        assert lines <= 0


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
@pytest.mark.parametrize("width", [1400, 700])
def test_light_and_dark(page: Path, width: int, tmp_path: Path) -> None:
    """Most of a picture is background: bright where light is preferred, else dark. The rest differs from it,
    in both panes."""
    for dark in (False, True):
        file = tmp_path / f"{dark}.png"
        browser(page, width, dark, f"--screenshot={file}")
        with Image.open(file) as image:
            assert image.size == (width, HEIGHT)
            grey = np.asarray(image.convert("L")).astype(int)
        background = int(np.median(grey))
        assert background < 60 if dark else background > 230
        upper, lower, left, right = (
            grey[:450],
            grey[450:],
            grey[:, : width // 2],
            grey[:, width // 2 :],
        )
        for pane in (left, right) if width > 800 else (upper, lower):
            assert 0.01 < (abs(pane - background) > 100).mean() < 0.4
