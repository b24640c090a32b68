"""Pins that `hbc doctor` tells what is there from what is missing, and what that would bring."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from hbc.cli.commands.doctor import MODULES, command
from hbc.codegen.build import cross, toolchain


def told() -> dict[str, tuple[str | None, str]]:
    rows = json.loads(CliRunner().invoke(command, ["--json"], catch_exceptions=False).stdout)
    return {row["what"]: (row["found"], row["brings"]) for row in rows}


def test_it_names_the_compiler() -> None:
    assert told()["C compiler"][0] == str(toolchain.find_compiler())


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/no/such/compiler")
    monkeypatch.setattr("shutil.which", lambda name, *_: None)
    for module in (toolchain, cross):
        monkeypatch.setattr(module, "on_path", lambda name: None)
        for name in ("_probe", "cross_commands"):
            cached = getattr(module, name, None)
            if hasattr(cached, "cache_clear"):
                cached.cache_clear()
    rows = told()
    assert rows["C compiler"][0] is rows["OpenMP"][0] is rows["nvcc"][0] is None
    assert all(brings for what, (_, brings) in rows.items() if what != "target")
    text = CliRunner().invoke(command, [], catch_exceptions=False).stdout
    assert "missing: run, verify and bench" in text


def test_every_extra_is_listed() -> None:
    """Those for users: all of pyproject.toml but what tests take."""
    file = Path(__file__).resolve().parents[3] / "pyproject.toml"
    extras = tomllib.loads(file.read_text())["project"]["optional-dependencies"]
    listed = {package for package, _ in MODULES.values()}
    assert listed == {f"hbc[{extra}]" for extra in extras if extra != "dev"}
    names = {"cv2": "opencv-python-headless", "cuda": "cuda-bindings", "mkdocs": "mkdocs-material"}
    for module, (package, _) in MODULES.items():
        needs = extras[package.removeprefix("hbc[").removesuffix("]")]
        assert any(need.startswith(names.get(module, module)) for need in needs), module
