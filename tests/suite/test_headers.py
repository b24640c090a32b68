"""Headers that are compiled beforehand change how long compilers take, and nothing else."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest
import suite_headers
from suite_headers import Precompiled, less_optimized, linked_sooner

TEXT = "#include <immintrin.h>\n__m128 f(__m128 a, __m128 b) { return _mm_add_ps(a, b); }\n"

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None or platform.machine() not in ("x86_64", "AMD64"),
    reason="no gcc for x86-64",
)


def command(folder: Path, *options: str, text: str = TEXT, compiler: str = "gcc") -> list[str]:
    source = folder / "k.c"
    source.write_text(text)
    return [compiler, *options, "-c", str(source), "-o", str(folder / "k.o")]


def test_from_the_second_time_on(tmp_path: Path) -> None:
    faster = Precompiled(tmp_path / "headers")
    words = command(tmp_path, "-O2", "-msse3")
    assert faster(words) == words
    sooner = faster(words)
    header = Path(sooner[sooner.index("-include") + 1])
    assert header.is_relative_to(tmp_path / "headers")
    assert sooner == ["gcc", "-include", str(header), *words[1:]]
    # -H names each header that is read, `!` one that was compiled; `..` is one that another includes.
    said = subprocess.run([*sooner, "-H"], capture_output=True, check=True, text=True).stderr
    assert said.startswith(f"! {header}.gch") and "\n.. " not in said


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_same_code(compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    faster = Precompiled(tmp_path / "headers")
    words = command(tmp_path, "-O2", "-msse3", compiler=compiler)
    subprocess.run(words, check=True)
    plain = (tmp_path / "k.o").read_bytes()
    faster(words)
    sooner = faster(words)
    assert sooner != words
    subprocess.run(sooner, check=True)
    assert (tmp_path / "k.o").read_bytes() == plain


def test_other_options_have_another(tmp_path: Path) -> None:
    faster = Precompiled(tmp_path / "headers")
    ways = (("-O2",), ("-O1",), ("-O2", "-mavx2"), ("-O2", "-fsanitize=address"))
    for way in ways:
        faster(command(tmp_path, *way))
    assert len({faster(command(tmp_path, *way))[2] for way in ways}) == len(ways)


def test_other_templates_have_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """gcc does not look whether what a compiled header includes has changed."""
    faster = Precompiled(tmp_path / "headers")
    words = command(tmp_path, "-O2")
    before = faster(words) and faster(words)
    monkeypatch.setattr(suite_headers, "templates", lambda: b"the shim was changed")
    assert faster(words) == words
    assert faster(words) not in (words, before)


@pytest.mark.parametrize(
    ("text", "compiler"), [("int a;\n", "gcc"), ("int a;\n", "clang"), (TEXT, "/usr/bin/cc1")]
)
def test_what_stays_as_it_is(text: str, compiler: str, tmp_path: Path) -> None:
    faster = Precompiled(tmp_path / "headers")
    words = command(tmp_path, "-O2", text=text, compiler=compiler)
    assert [faster(words), faster(words)] == [words, words]


def test_a_header_that_is_refused(tmp_path: Path) -> None:
    faster = Precompiled(tmp_path / "headers")
    words = command(tmp_path, "-O2", "-mno-such-thing")
    assert [faster(words), faster(words)] == [words, words]


@pytest.mark.parametrize(
    ("words", "gold"),
    [
        ("gcc -shared k.c -o k.so", "ld.gold"),
        ("g++ -c k.cpp -o k.o", "ld.gold"),
        ("g++ -fsanitize=thread k.cpp -o k", "ld.gold"),
        ("g++ -shared k.cpp -o k.so", None),
    ],
)
def test_what_is_linked_as_it_is(words: str, gold: str | None) -> None:
    assert linked_sooner(words.split(), gold) == words.split()


def test_cpp_is_linked_by_gold() -> None:
    words = linked_sooner(["g++", "-shared", "k.cpp", "-o", "k.so"], "ld.gold")
    assert words == ["g++", "-fuse-ld=gold", "-shared", "k.cpp", "-o", "k.so"]


def test_what_is_compiled_to_be_quick_is_optimized_less() -> None:
    for words in (
        "g++ -O1 -include templates/cuda_on_cpu.h k.cpp", "g++ -O1 -fsanitize=address k.cpp",
        "gcc -O3 -O1 -c k.c", "aarch64-linux-gnu-gcc -O1 k.c",
    ):  # fmt: skip
        assert less_optimized(words.split()) == words.replace("-O1", "-Og").split()
    for others in (
        "clang++ -O1 k.cpp", "g++ -O1 -fsanitize=thread k.cpp", "gcc -O3 k.c", "gcc -O1 -O2 k.c", "gcc k.c",
    ):  # fmt: skip
        assert less_optimized(others.split()) == others.split()
