"""Pins who may import whom, what is packaged, and what `hbc` loads before it does any work."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LISTED = PYPROJECT["tool"]["setuptools"]["packages"]
PACKAGE_DATA = PYPROJECT["tool"]["setuptools"]["package-data"]

# cli is absent from every row but its own: nothing imports it.
MAY_IMPORT = {
    "cli": {"cli", "frontend", "eqsat", "synth", "codegen", "ir"},
    "frontend": {"frontend", "ir"},
    "eqsat": {"eqsat", "ir"},
    "synth": {"synth", "ir"},
    "codegen": {"codegen", "ir"},
    "ir": {"ir"},
}

# What `hbc --help` cannot afford, in milliseconds of import time on a 3.7 GHz core:
# egglog 226, numpy 110 (ml_dtypes loads it), lark 59, rich and Pillow some 30 each.
LOADED_LATE = ("egglog", "lark", "ml_dtypes", "numpy", "PIL", "rich")

NOT_PACKAGES = {"build", "dist", "docs", "samples", "tests"}


def python_files(*folders: str) -> list[Path]:
    return sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))


def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


PACKAGED = python_files(*MAY_IMPORT)
EVERYTHING = [*PACKAGED, *python_files("tests", "samples", "docs")]


def imports(file: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of each import, at any depth; `file` is relative to the root."""
    parts = ["hbc", *Path(file).with_suffix("").parts][:-1]
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                above = parts[: len(parts) - level + 1] if level else []
                base = ".".join([*above, *([module] if module else [])])
                yield from ((node.lineno, f"{base}.{alias.name}") for alias in names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str() as target), *_],
            ):
                yield node.lineno, target


def mistakes(file: str, source: str) -> list[str]:
    """What is wrong with the imports of one file, one line each."""
    found = []
    package = Path(file).parts[0]
    for line, target in imports(file, ast.parse(source)):
        head, _, rest = target.partition(".")
        imported = rest.partition(".")[0]
        if head in MAY_IMPORT:
            found.append(
                f"{file}:{line}: imports `{target}`: write `hbc.{target}`, "
                "the bare name loads a second copy of every class"
            )
        elif head == "hbc" and package in MAY_IMPORT and imported not in MAY_IMPORT[package]:
            allowed = ", ".join(sorted(f"hbc.{one}" for one in MAY_IMPORT[package]))
            found.append(f"{file}:{line}: imports `{target}`: {package} may import only {allowed}")
    return found


@pytest.mark.parametrize("file", EVERYTHING, ids=name)
def test_imports_point_downwards(file: Path) -> None:
    assert mistakes(name(file), file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("ir/a.py", "from hbc.frontend.ast import Name"),
        ("ir/a.py", "import hbc.cli.main"),
        ("frontend/a.py", "import hbc.codegen.c as c"),
        ("frontend/a.py", "from hbc import codegen"),
        ("frontend/a.py", "from ..synth import search"),
        ("frontend/a.py", "from .. import synth"),
        ("synth/a.py", "def late():\n    from hbc.eqsat.cost import cycles"),
        ("synth/a.py", "from importlib import import_module\nimport_module('hbc.eqsat.cost')"),
        ("eqsat/a.py", "from hbc.cli import report"),
        ("codegen/a.py", "import hbc"),
        ("cli/a.py", "from ir.nodes import Const"),
        ("tests/ir/test_a.py", "import ir"),
    ],
)
def test_a_wrong_import_is_found(file: str, source: str) -> None:
    assert len(mistakes(file, source)) == 1


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("cli/a.py", "from hbc.codegen.c import emit\nfrom hbc.eqsat import select"),
        ("frontend/a.py", "from hbc.ir.nodes import Add\nfrom . import ast\nfrom .check import x"),
        ("frontend/__init__.py", "from .parse import parse"),
        ("ir/a.py", "from .nodes import Const\nimport irrelevant"),
        ("tests/ir/test_a.py", "from hbc.ir.nodes import Const\nfrom hbc.cli.main import main"),
    ],
)
def test_a_right_import_is_not(file: str, source: str) -> None:
    assert mistakes(file, source) == []


@pytest.mark.parametrize("file", PACKAGED, ids=name)
def test_first_line_says_what_the_file_does(file: Path) -> None:
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    assert text.split("\n")[0].strip(), f"{name(file)}: begin with a docstring: what it does"


def test_listed_packages_are_those_on_disk() -> None:
    """A package that is not listed works in an editable install and is absent from the wheel."""
    tops = [
        folder.name
        for folder in ROOT.iterdir()
        if folder.is_dir() and folder.name not in NOT_PACKAGES and not folder.name.startswith(".")
    ]
    on_disk = {
        ".".join(["hbc", *file.parent.relative_to(ROOT).parts]) for file in python_files(*tops)
    }
    assert sorted(LISTED) == sorted(on_disk)
    # mypy reads what lies in a package with it.
    inner = {one for one in LISTED if one.rpartition(".")[0] in LISTED}
    assert sorted(PYPROJECT["tool"]["mypy"]["packages"]) == sorted(set(LISTED) - inner)


@pytest.mark.parametrize("package", LISTED)
def test_each_package_is_one_and_is_typed(package: str) -> None:
    folder = ROOT.joinpath(*package.split(".")[1:])
    assert (folder / "__init__.py").is_file()
    assert (folder / "py.typed").is_file()


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_data_files_are_packaged(package: str) -> None:
    """Grammars, templates, rules: what package-data does not name is absent from the wheel."""
    folder = ROOT / package
    on_disk = {
        file
        for file in folder.rglob("*")
        if file.is_file()
        and file.suffix != ".py"
        and "__pycache__" not in file.parts
        and not file.name.startswith(".")
    }
    packaged = {
        file
        for one in LISTED
        if one == f"hbc.{package}" or one.startswith(f"hbc.{package}.")
        for pattern in [*PACKAGE_DATA["*"], *PACKAGE_DATA.get(one, [])]
        for file in ROOT.joinpath(*one.split(".")[1:]).glob(pattern)
    }
    assert sorted(map(name, on_disk - packaged)) == [], "name these under package-data"


@pytest.mark.skipif(
    [file.name for file in python_files("cli")] == ["__init__.py"], reason="hbc.cli is empty"
)
def test_the_command_starts_without_the_slow_libraries() -> None:
    main = PYPROJECT["project"]["scripts"]["hbc"].partition(":")[0]
    script = f"import sys, {main}; print(*sorted(set({LOADED_LATE!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [], f"imported with {main}: import these inside functions"


@pytest.mark.parametrize("target", ["c", "avx2", "avx512"])
def test_kernels_without_tensor_instructions_are_compiled_without_numpy(
    target: str, tmp_path: Path
) -> None:
    kernel = ROOT / "samples" / "gemm_f32.hb"
    main = PYPROJECT["project"]["scripts"]["hbc"].partition(":")[0]
    arguments = ["compile", str(kernel), "--target", target, "-o", str(tmp_path)]
    script = f"import sys; from {main} import exit_code_of; print(exit_code_of({arguments}))"
    script += "; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd="/")
    assert done.stdout.split() == ["0", "False"], done.stderr


def test_helpers_of_tests_have_names_of_their_own() -> None:
    """Folders of tests put themselves on the path: of two files with one name, one would be lost."""
    names = [f.name for f in python_files("tests") if not f.name.startswith(("test_", "conftest"))]
    assert len(names) == len(set(names)), sorted({n for n in names if names.count(n) > 1})
