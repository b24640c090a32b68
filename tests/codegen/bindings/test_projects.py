"""The projects of samples/integrate are built and run, each where its tools are."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from suite_bindings import ran

from hbc.cli.main import commands

PROJECTS = Path(__file__).parents[3] / "samples" / "integrate"
PRODUCT = "58 64 139 154"
HBC = f"{sys.executable} -m hbc.cli.main"


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"there is no {tool}")


@pytest.mark.parametrize(
    ("project", "tools"), [("c", ["cc"]), ("rust", ["rustc", "cc"]), ("python", ["cc"])]
)
def test_with_make(project: str, tools: list[str], tmp_path: Path) -> None:
    needs("make", *tools)
    said = ran(
        "make", "-s", "-C", str(PROJECTS / project), "run", f"BUILD={tmp_path}", f"HBC={HBC}",
        f"PYTHON={sys.executable}", at=tmp_path,
    )  # fmt: skip
    assert said.split("\n")[-2 if said.endswith("\n") else -1] == PRODUCT


def test_cpp_with_cmake(tmp_path: Path) -> None:
    needs("cmake", "c++")
    folder = CliRunner().invoke(commands, ["--cmake-dir"]).stdout.strip()
    script = tmp_path / "hbc"
    script.write_text(f'#!/bin/sh\nexec {HBC} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    ran(
        "cmake", "-S", str(PROJECTS / "cpp"), "-B", "build", f"-Dhbc_DIR={folder}",
        f"-DHBC_EXECUTABLE={script}", at=tmp_path,
    )  # fmt: skip
    ran("cmake", "--build", "build", at=tmp_path)
    assert ran(f"build/app{'.exe' if os.name == 'nt' else ''}", at=tmp_path).strip() == PRODUCT


def test_each_project_is_described() -> None:
    text = (PROJECTS / "README.md").read_text(encoding="utf-8")
    assert all(f"`{p.name}`" in text for p in PROJECTS.iterdir() if p.is_dir())
