"""Pins who may import whom, what is packaged, and what `hbc` loads before it does any work."""

import ast
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
import room_map
from room_map import MAY_IMPORT, Room, imports, imports_of, may_import, room_of
from suite_rooms import concerned

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LISTED = PYPROJECT["tool"]["setuptools"]["packages"]
PACKAGE_DATA = PYPROJECT["tool"]["setuptools"]["package-data"]

# What `hbc --help` cannot afford, in milliseconds of import time on a 3.7 GHz core:
# egglog 226, numpy 110 (ml_dtypes loads it), lark 59, rich and Pillow some 30 each.
LOADED_LATE = ("egglog", "lark", "ml_dtypes", "numpy", "PIL", "rich")

MOST_FILES = 20
"""Of a room, its `__init__.py` apart: what one can look over."""

TESTED_BY = {
    "ir/beforehand": "codegen/c",
    "frontend/program": "frontend/checks",
    "frontend/plans": "frontend/directives",
    "frontend/costs": "frontend/automatic",
    "eqsat/inspecting": "cli/commands",
    "synth/prunings": "synth/search",
    "codegen/x86": "codegen/vector",
    "codegen/shuffles": "synth/shuffles",
    "cli/forms": "codegen/bindings",
}
"""Rooms without a folder of tests, and the folder whose tests are theirs too."""

NOT_PACKAGES = {"build", "dist", "docs", "editors", "samples", "tests"}


def python_files(*folders: str) -> list[Path]:
    return sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))


def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


ROOTS = [ROOT / "__init__.py", ROOT / "__main__.py"]
PACKAGED = python_files(*MAY_IMPORT)
EVERYTHING = [*PACKAGED, *python_files("tests", "samples", "docs")]


def mistakes(file: str, imported: Iterable[tuple[int, str]]) -> list[str]:
    """What is wrong with the imports of one file, one line each."""
    found = []
    package = Path(file).parts[0]
    for line, target in imported:
        head, _, rest = target.partition(".")
        part = rest.partition(".")[0]
        if head in MAY_IMPORT:
            found.append(
                f"{file}:{line}: imports `{target}`: write `hbc.{target}`, "
                "the bare name loads a second copy of every class"
            )
        elif head == "hbc" and package in MAY_IMPORT and part not in MAY_IMPORT[package]:
            allowed = ", ".join(sorted(f"hbc.{one}" for one in MAY_IMPORT[package]))
            found.append(f"{file}:{line}: imports `{target}`: {package} may import only {allowed}")
        elif head == "hbc" and package in MAY_IMPORT:
            to = room_map.modules().get(target) or room_map.modules().get(target.rpartition(".")[0])
            room = Room(package, "/".join(Path(file).parts[1:-1]))
            if to is not None and not may_import(room, room_of(to)):
                found.append(
                    f"{file}:{line}: imports `{target}`: {room} may not import {room_of(to)}"
                )
    return found


@pytest.mark.parametrize("file", EVERYTHING, ids=name)
def test_imports_point_downwards(file: Path) -> None:
    found = mistakes(name(file), imports_of(file))
    assert not found, "\n".join([*found, "", "The rooms, from the ground up:", room_map.shown()])


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
        ("ir/lang/a.py", "from hbc.ir.algebra.simplify import simplify"),
        ("ir/lang/a.py", "import hbc.ir.algebra.simplify"),
        ("codegen/text/a.py", "from hbc.codegen.cuda import file"),
        ("cli/show/a.py", "from hbc.cli.prepare import choose"),
        ("tests/ir/test_a.py", "import ir"),
    ],
)
def test_a_wrong_import_is_found(file: str, source: str) -> None:
    assert len(mistakes(file, imports(file, ast.parse(source)))) == 1


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("cli/a.py", "from hbc.codegen.c import emit\nfrom hbc.eqsat import select"),
        ("frontend/a.py", "from hbc.ir.nodes import Add\nfrom . import ast\nfrom .check import x"),
        ("frontend/__init__.py", "from .parse import parse"),
        ("ir/a.py", "from .nodes import Const\nimport irrelevant"),
        ("ir/algebra/a.py", "from hbc.ir.lang.nodes import Const\nfrom . import simplify"),
        ("cli/commands/a.py", "from hbc.cli.prepare import choose"),
        ("tests/ir/test_a.py", "from hbc.ir.nodes import Const\nfrom hbc.cli.main import main"),
    ],
)
def test_a_right_import_is_not(file: str, source: str) -> None:
    assert mistakes(file, imports(file, ast.parse(source))) == []


def test_every_file_lies_in_a_room_and_no_room_is_too_big() -> None:
    known = [f for f in PACKAGED if f.name != "__init__.py"]
    names = {p: [n for n, _ in said["rooms"]] for p, said in room_map.TABLE.items()}
    assert [name(f) for f in known if room_of(f).name not in names[room_of(f).package]] == []
    counts = Counter(map(room_of, known))
    crowded = {str(room): count for room, count in counts.items() if count > MOST_FILES}
    assert not crowded, f"split or join: {crowded}\n{room_map.shown()}"


def test_no_two_files_import_each_other_by_any_way() -> None:
    try:
        TopologicalSorter(room_map.graph()).prepare()
    except CycleError as cycle:
        pytest.fail(" -> ".join(cycle.args[1]))


def test_rooms_say_what_they_are_for() -> None:
    for room, about in room_map.ABOUT.items():
        if room.name:
            file = ROOT / room.package / room.name / "__init__.py"
            assert " ".join(room_map.read(file).docstring.split()) == about


def test_each_room_has_a_folder_of_tests() -> None:
    """So that the tests of a module are found by its path."""
    folders = {file.parent for file in python_files("tests") if file.name.startswith("test_")}
    for room in room_map.ABOUT:
        if room.name and str(room) not in TESTED_BY:
            assert ROOT / "tests" / str(room) in folders, (
                f"no tests/{room}: make it, or say it in TESTED_BY"
            )
    rooms = {str(room): room for room in room_map.ABOUT}
    for name, by in TESTED_BY.items():
        assert ROOT / "tests" / name not in folders, (
            f"tests/{name} is there: take it out of TESTED_BY"
        )
        assert any(f.parent == ROOT / "tests" / by for f in concerned(rooms[name])), (name, by)


def test_the_drawing_is_that_of_the_imports() -> None:
    page = room_map.PAGE.read_text(encoding="utf-8")
    again = "draw it again: python tests/layering/room_map.py"
    assert room_map.drawn(page) == room_map.drawing(), again


@pytest.mark.parametrize("file", [*ROOTS, *PACKAGED], ids=name)
def test_first_line_says_what_the_file_does(file: Path) -> None:
    assert room_map.read(file).docstring.split("\n")[0].strip(), (
        f"{name(file)}: begin with a docstring: what it does"
    )


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
    assert sorted(LISTED) == sorted({"hbc", *on_disk})


@pytest.mark.parametrize("package", LISTED)
def test_each_package_is_one(package: str) -> None:
    assert ROOT.joinpath(*package.split(".")[1:], "__init__.py").is_file()


def test_the_package_is_typed() -> None:
    """PEP 561: the marker of the outermost package counts for those in it."""
    assert (ROOT / "py.typed").is_file() and "py.typed" in PACKAGE_DATA["*"]


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
        for listed in LISTED
        for pattern in [*PACKAGE_DATA["*"], *PACKAGE_DATA.get(listed, [])]
        for file in ROOT.joinpath(*listed.split(".")[1:]).glob(pattern)
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
    # The first reads the descriptions of instructions, by NumPy, unless they are in the cache.
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, cwd="/"
        )
    assert done.stdout.split() == ["0", "False"], done.stderr


def test_helpers_of_tests_have_names_of_their_own() -> None:
    """Folders of tests are on the path, before Python's library: of two files with one name, one is lost."""
    names = [f.stem for f in python_files("tests") if not f.name.startswith(("test_", "conftest"))]
    assert len(names) == len(set(names)), sorted({n for n in names if names.count(n) > 1})
    assert not sys.stdlib_module_names & set(names)


def test_no_test_module_is_imported() -> None:
    """Several folders have one of the same name: which is found depends on what else is tested. `from .`
    names the folder."""
    for file in python_files("tests"):
        wrong = [m for m in imported(file.read_text(encoding="utf-8")) if m.startswith("test_")]
        assert not wrong, f"{name(file)} imports {', '.join(wrong)}: move what it wants to a file"


def imported(text: str) -> Iterator[str]:
    """The modules that a text imports from somewhere on the path."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module or ""
