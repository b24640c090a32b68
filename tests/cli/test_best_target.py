"""Pins which target is meant when none is named: of those that run, the best with a schedule."""

from __future__ import annotations

from pathlib import Path

import pytest

from hbc.cli.prepare import choose
from hbc.codegen.build import processor
from hbc.ir.lang.target import TARGETS

KERNEL = """
kernel mm
type   TA = {a}
type   TB = {b}
type   TC = {c}
size   M, N, K
input  A: TA[M, K]
input  B: TB[K, N]
output C: TC[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += TC(A[i, k]) * TC(B[k, j])
C[i, j]    = acc[i, j]
"""
SCHEDULES = {
    "portable": "c", "narrow": "avx2", "narrow_dot": "avxvnni", "fast": "avx512",
    "dot": "avx512vnni, avx512bf16", "tiles": "amx", "neon": "arm_dot",
}  # fmt: skip
BF16 = ("bf16", "bf16", "f32")
BYTES = ("u8", "i8", "i32")
FLOATS = ("f32", "f32", "f32")

AVX2 = TARGETS["avx2"].needs
AVX512 = (*TARGETS["avx512"].needs, *AVX2)
NEWEST = (*AVX512, "avx_vnni", "avx512_vnni", "avx512_bf16")
TILES = (*NEWEST, *TARGETS["amx"].needs)
PERMUTING = (*NEWEST, "avx512vbmi")


def kernel(folder: Path, types: tuple[str, str, str], *schedules: str) -> Path:
    text = KERNEL.format(**dict(zip("abc", types, strict=True)))
    for name in schedules:
        text += f"schedule {name} for {SCHEDULES[name]} {{ acc.compute_root() }}\n"
    file = folder / "mm.hb"
    file.write_text(text, encoding="ascii")
    return file


def chosen(
    file: Path, features: tuple[str, ...], patch: pytest.MonkeyPatch, schedule: str | None = None
) -> tuple[str, str]:
    """The target and the schedule on a processor with these features."""
    patch.setattr("hbc.codegen.build.processor.cpu_features", lambda: frozenset(features))
    found = choose(file, {}, None, schedule)
    return found.target.name, found.schedule_name


@pytest.mark.parametrize(
    ("types", "features", "target", "schedule"),
    [
        (BF16, (), "c", "portable"),
        (BF16, AVX2, "avx2", "narrow"),
        (BF16, AVX512, "avx512", "fast"),
        (BF16, NEWEST, "avx512bf16", "dot"),
        (BF16, TILES, "amx", "tiles"),
        (BYTES, (*AVX2, "avx_vnni"), "avxvnni", "narrow_dot"),
        (BYTES, NEWEST, "avx512vnni", "dot"),
        (BYTES, TILES, "amx", "tiles"),
        (BYTES, (*AVX512, "avx512_bf16"), "avx512", "fast"),
        # No instruction that AVX-512 lacks multiplies f32: what the other schedules are for, they are not.
        (FLOATS, NEWEST, "avx512", "fast"),
        (FLOATS, TILES, "avx512", "fast"),
        (FLOATS, PERMUTING, "avx512vbmi", "fast"),
        (BYTES, PERMUTING, "avx512vnni", "dot"),
        (BYTES, ("asimd", "asimddp"), "arm_dot", "neon"),
        (FLOATS, ("asimd",), "c", "portable"),
    ],
)
def test_the_best_that_runs(
    types: tuple[str, str, str], features: tuple[str, ...], target: str, schedule: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    file = kernel(tmp_path, types, *SCHEDULES)
    assert chosen(file, features, monkeypatch) == (target, schedule)


def test_a_target_with_a_schedule_and_no_better_one_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for schedules, target in (
        ((), "amx"),  # hbc makes a schedule, for the target that multiplies fastest
        (("portable",), "amx"),  # a schedule of a lesser target leaves the products to vectors
        (("portable", "narrow"), "amx"),
        (("narrow", "narrow_dot"), "amx"),  # dot products of bytes, not of bf16
        (("fast",), "avx512"),  # made for a target of this machine: it is taken as it is
        (("fast", "dot"), "avx512bf16"),
    ):
        assert chosen(kernel(tmp_path, BF16, *schedules), TILES, monkeypatch)[0] == target
    # As wide vectors, and no more instructions that multiply.
    assert chosen(kernel(tmp_path, BF16, "fast"), PERMUTING, monkeypatch) == ("avx512vbmi", "fast")
    assert chosen(kernel(tmp_path, BYTES, "narrow", "narrow_dot"), TILES, monkeypatch) == (
        "avxvnni", "narrow_dot",
    )  # fmt: skip


def test_the_schedule_decides_where_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = kernel(tmp_path, BYTES, *SCHEDULES)
    assert chosen(file, TILES, monkeypatch, "dot") == ("avx512vnni", "dot")
    assert chosen(file, TILES, monkeypatch, "narrow") == ("avx512", "narrow")
    assert chosen(file, TILES, monkeypatch, "none") == ("avx512", "none")
    # For types that its instructions do not multiply: of its targets one that runs.
    assert chosen(kernel(tmp_path, FLOATS, "dot"), NEWEST, monkeypatch)[1] == "dot"
    assert "note" not in capsys.readouterr().err


def test_a_note_where_none_of_them_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = kernel(tmp_path, BF16, "tiles")
    assert chosen(file, NEWEST, monkeypatch) == ("amx", "tiles")
    note = "note: for `amx`, because there is no schedule for `avx512`\n"
    assert capsys.readouterr().err == note
    assert chosen(file, TILES, monkeypatch) == ("amx", "tiles")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("schedules", [("narrow",), ("tiles",), ("narrow", "tiles", "dot")])
def test_what_nothing_here_stands_for_is_not_taken(
    schedules: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A processor without AVX2 has plain loops, or what hbc makes of them; a name still decides."""
    file = kernel(tmp_path, BYTES, *schedules)
    assert chosen(file, ("sse4_2",), monkeypatch) == ("c", "auto")
    assert chosen(file, ("sse4_2",), monkeypatch, schedules[0])[0] != "c"


def test_a_schedule_of_a_lesser_target_loses_to_instructions_that_it_does_not_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a line that says so; not where it is asked for, nor where no instruction does the products."""
    file = kernel(tmp_path, BYTES, "portable")
    assert chosen(file, NEWEST, monkeypatch) == ("avx512vnni", "auto")
    assert capsys.readouterr().err == (
        "note: schedule auto for `avx512vnni`: its `vpdpbusd_zmm` does products that `portable` of the file,"
        " for `c`, leaves to plain vectors (`--schedule portable` takes that)\n"
    )
    assert chosen(file, NEWEST, monkeypatch, "portable") == ("avx512", "portable")
    assert chosen(file, AVX512, monkeypatch) == ("avx512", "portable")
    assert chosen(kernel(tmp_path, FLOATS, "portable"), TILES, monkeypatch) == (
        "avx512", "portable",
    )  # fmt: skip
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("first", "halves", "taken"),
    [
        ("short", False, "long"),
        ("short", True, "short"),
        ("tuned_short", False, "tuned_short"),
        ("long", True, "long"),
    ],
)
def test_vectors_as_long_as_the_processor_does_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, halves: bool, taken: str
) -> None:
    """Two schedules for one target that differ in their vectors are for different machines."""
    file = kernel(tmp_path, FLOATS)
    both = {first: 16 if first == "long" else 8} | {
        "long" if first != "long" else "short": 16 if first != "long" else 8
    }
    lines = [f"schedule {n} for avx512 {{ C.vectorize(j, {v}) }}\n" for n, v in both.items()]
    file.write_text(file.read_text(encoding="ascii") + "".join(lines), encoding="ascii")
    monkeypatch.setattr("hbc.cli.best_target.in_halves", lambda: halves)
    assert chosen(file, AVX512, monkeypatch) == ("avx512", taken)
    assert chosen(file, AVX512, monkeypatch, first) == ("avx512", first)


@pytest.mark.parametrize(
    ("text", "halves"),
    [
        ("vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t: 17\n", True),
        ("vendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t: 17\n", False),
        ("vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t: 207\n", False),
        ("", False),
    ],
)
def test_processors_that_halve_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, halves: bool
) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text(text, encoding="ascii")
    monkeypatch.setattr(processor, "CPUINFO", file)
    assert processor.in_halves() is halves
