"""Pins that commands know sketches (.sf) from kernels (.hb), and what `compile -o -` does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
SKETCHES = sorted([*(ROOT / "samples/sketches").glob("*.sf"), *(ROOT / "codegen/isa").glob("*.sf")])
Command = Callable[..., Any]


def test_check_and_fmt_take_all_sketches(hbc: Command) -> None:
    """Preludes, which have no goal, too."""
    assert hbc("check", *SKETCHES).code == 0
    assert hbc("fmt", "--check", *SKETCHES).code == 0


@pytest.mark.parametrize("name", ["crc.sf", "prelude.sf"])
def test_check_reports_a_sketch_s_mistakes(hbc: Command, tmp_path: Path, name: str) -> None:
    text = (ROOT / "samples/sketches" / name).read_text(encoding="utf-8")
    broken = tmp_path / name
    broken.write_text(f"{text}\nlast: [4 = 3\n", encoding="utf-8")
    done = hbc("check", broken)
    assert done.code == 1
    assert done.err.startswith(f"{broken}:{text.count(chr(10)) + 2}:10: error: ")


def test_fmt_keeps_the_columns_of_a_sketch(hbc: Command, tmp_path: Path) -> None:
    file = tmp_path / "a.sf"
    file.write_text(
        "\n\nx:   [4]  \n\n\n\t# why\ngoal x == [i in 4]\n    x[i]\n\n", encoding="utf-8"
    )
    assert hbc("fmt", "--check", file).code == 1
    assert hbc("fmt", file).code == 0
    assert file.read_text() == "x:   [4]\n\n    # why\ngoal x == [i in 4]\n    x[i]\n"
    assert hbc("fmt", "--check", file).code == 0


def test_the_other_kind_of_file(hbc: Command, gemm: Path) -> None:
    sketch = ROOT / "samples/sketches/sum.sf"
    for command in ("compile", "run", "verify", "bench", "explain"):
        done = hbc(command, sketch)
        assert (done.code, done.out) == (2, "")
        said = f"error: `{sketch}` is a sketch, not a kernel\nhint: hbc synth {sketch}\n"
        assert done.err == said
    done = hbc("synth", gemm)
    assert done.code == 2
    assert done.err == f"error: `{gemm}` is a kernel, not a sketch\nhint: hbc compile {gemm}\n"


def test_a_picture_and_code_in_one_file(hbc: Command, tmp_path: Path) -> None:
    file = tmp_path / "x.svg"
    done = hbc("synth", ROOT / "samples/sketches/sum.sf", "--picture", file, "-o", file)
    assert done.code == 2
    assert f"`--picture` and `-o` are one file, `{file}`" in done.err
    assert not file.exists()


@pytest.mark.parametrize("kind", ["c", "cu", "ir", "loops", "html"])
def test_compile_to_stdout(
    hbc: Command, gemm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """What would be in the file; no folder `-` is made."""
    monkeypatch.chdir(tmp_path)
    target = "cuda" if kind == "cu" else "c"
    words = ("compile", gemm, "--target", target, "--schedule", "none", "--emit", kind)
    shown = hbc(*words, "-o", "-")
    assert (shown.code, shown.err) == (0, "")
    assert hbc(*words, "-o", "out").code == 0
    file = next(f for f in (tmp_path / "out").iterdir() if f.suffix != ".h")
    assert shown.out.rstrip() == file.read_text(encoding="utf-8").rstrip()
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize(
    ("word", "said"), [("so", "`--emit so` is no text"), ("", "both want stdout")]
)
def test_what_stdout_does_not_take(hbc: Command, gemm: Path, word: str, said: str) -> None:
    words = ("--emit", word) if word else ("--json",)
    done = hbc("compile", gemm, "--target", "c", "-o", "-", *words)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize("name", ["gemm.c", "below/lib.so"])
def test_a_folder_called_like_a_file_is_none(
    hbc: Command, gemm: Path, tmp_path: Path, name: str
) -> None:
    """Whoever writes `-o gemm.c` wants a file of that name, and would look for it in vain."""
    place = tmp_path / name
    done = hbc("compile", gemm, "--target", "c", "-o", place)
    assert done.code == 2 and not place.exists()
    assert f"`{place.name}` looks like a file" in done.err
    assert f"hint: write `-o {place.parent}`, and `kernel {place.stem}`" in done.err
    place.mkdir(parents=True)
    assert hbc("compile", gemm, "--target", "c", "-o", place).code == 0
