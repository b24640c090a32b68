"""Pins `hbc instructions`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., Any]

MINE = """
feature swirl { machine x86_64; cpuinfo "swirl"; flag ""; probe { leaf 7; register eax; bit 0 } }
instruction swirl(c: i32[4], a: u8[4, 4], b: i8[4, 4]) in xmm {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = swirl({c}, {a}, {b});"
cost { latency 3; per_cycle 0.5 }
needs swirl
"""


def test_text(hbc: Command) -> None:
    done = hbc("instructions", "--target", "amx")
    assert done.code == 0
    title, columns, first, *_ = done.out.splitlines()
    assert title.startswith("amx: AMX tiles")
    assert columns.split()[:2] == ["instruction", "c"]
    assert first.startswith("  tdpbf16ps  ")
    assert "f32[M, N]" in first
    assert "K <= 32 step 2" in first
    assert "8,192" in first


def test_all_targets_are_listed(hbc: Command) -> None:
    done = hbc("instructions")
    titles = [line for line in done.out.splitlines() if line and not line.startswith(" ")]
    names = [title.partition(":")[0] for title in titles]
    assert {"amx", "avx512vnni", "avx512bf16", "avxvnni", "arm_dot"} <= set(names)


def test_json(hbc: Command) -> None:
    done = hbc("instructions", "--target", "arm_dot", "--json")
    said = json.loads(done.out)
    assert [t["target"] for t in said["targets"]] == ["arm_dot"]
    smmla = next(i for i in said["instructions"] if i["name"] == "smmla")
    assert smmla["targets"] == ["arm_dot"]
    assert smmla["operands"][1] == {
        "name": "a", "type": "i8", "extents": ["2", "8"], "role": "factor",
    }  # fmt: skip
    assert smmla["loops"][0] == {
        "name": "i",
        "kind": "i",
        "extent": {"least": 2, "most": 2, "step": 1},
        "strides": {"c": "2", "a": "8", "b": "0"},
    }
    assert smmla["rounding"] == {"overflow": "wraps"}
    assert smmla["products"] == 32
    assert smmla["runs_here"] == (not smmla["missing"])


def test_own_file(hbc: Command, tmp_path: Path) -> None:
    own = tmp_path / "mine.hb"
    own.write_text(MINE, encoding="utf-8")
    done = hbc("instructions", "--isa", own)
    assert done.code == 0
    assert done.out.partition("\nfor no target\n")[2].splitlines()[1].split()[0] == "swirl"
    said = json.loads(hbc("instructions", "--isa", own, "--json").out)
    assert said["instructions"][-1]["name"] == "swirl"
    assert said["instructions"][-1]["missing"] == ["swirl"]


def test_mistakes(hbc: Command, tmp_path: Path) -> None:
    done = hbc("instructions", "--target", "amxx")
    assert (done.code, done.out) == (2, "")
    assert "did you mean `amx`?" in done.err
    own = tmp_path / "mine.hb"
    own.write_text(MINE.replace("in xmm", "in xnn"), encoding="utf-8")
    done = hbc("instructions", "--isa", own)
    assert (done.code, done.out) == (1, "")
    assert "there is no place `xnn`" in done.err
    done = hbc("instructions", "--isa", tmp_path / "lost.hb")
    assert done.code == 1
    assert "cannot read" in done.err
