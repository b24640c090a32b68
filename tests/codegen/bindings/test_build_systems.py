"""Pins that meson.build and NAME.pc beside emitted C let a program use it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from suite_bindings import MAIN, SAID, emitted, ran

PROJECT = """project('user', 'c')
subdir('own')
executable('user', 'main.c', dependencies: own_dep)
"""


def test_meson(tmp_path: Path) -> None:
    meson = shutil.which("meson")
    if meson is None or shutil.which("ninja") is None:
        pytest.skip("there is no meson with ninja")
    emitted(tmp_path, "--emit", "meson")
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "meson.build").write_text(PROJECT)
    ran(meson, "setup", "build", at=tmp_path)
    ran(meson, "compile", "-C", "build", at=tmp_path)
    assert ran("build/user", at=tmp_path) == SAID


def test_pkg_config(tmp_path: Path) -> None:
    pkg_config = next(filter(None, map(shutil.which, ("pkg-config", "pkgconf"))), None)
    if pkg_config is None:
        pytest.skip("there is no pkg-config")
    folder = emitted(tmp_path, "--emit", "pkgconfig")
    moved = folder.rename(tmp_path / "elsewhere")
    (tmp_path / "main.c").write_text(MAIN)
    found = subprocess.run(
        [pkg_config, "--cflags", "--libs", "own"], capture_output=True, text=True, check=True,
        env={**os.environ, "PKG_CONFIG_PATH": str(moved)},
    )  # fmt: skip
    ran("cc", "main.c", *found.stdout.split(), "-o", "main", at=tmp_path)
    assert ran("./main", at=tmp_path) == SAID
