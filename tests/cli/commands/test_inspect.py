"""Pins `hbc inspect`: every sample on every target, the hand schedules' mappings near the top, spellings."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hbc.cli.commands.inspect import _lines, _sizes, inspected
from hbc.cli.compiled import NO_SCHEDULE
from hbc.cli.prepare import choose
from hbc.eqsat.inspecting.mapping import PLAIN, Inspected, Mapping
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
Command = Callable[..., Any]

PRODUCT = """\
size   M, N, K
input  A: u8[M, K]
input  B: i8[K, N]
output C: i32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += {}
C[i, j]    = acc[i, j]
example {{ M = 256; N = 256; K = 256; A = random(1); B = random(2) }}
"""


def found(kernel: Path | Source, target: str) -> list[Inspected]:
    chosen = choose(kernel, {}, target, None)
    return inspected(chosen, _sizes(chosen, {}))


def product(term: str, target: str) -> Inspected:
    return found(Source("product.hb", PRODUCT.format(term)), target)[0]


def feasible(s: Inspected) -> list[Mapping]:
    return [m for m in s.mappings if not m.reason]


@pytest.mark.parametrize("target", TARGETS)
def test_every_sample(target: str) -> None:
    """Each instruction of each statement is mapped or refused with a reason; those that are mapped
    stand by their cycles, and before the others. A target meets each third sample, and a sample each third
    target; an application, which takes up to 17 s, one."""
    place, applications = list(TARGETS).index(target), sorted(SAMPLES.glob("apps/*.hb"))
    others = sorted(set(SAMPLES.rglob("*.hb")) - set(applications))
    for path in [*others[place % 3 :: 3], *applications[place :: len(TARGETS)]]:
        chosen = choose(path, {}, target, NO_SCHEDULE)
        try:
            statements = inspected(chosen, _sizes(chosen, {}))
        except HbcError as refused:  # without a schedule, as for every command
            assert "with its Funcs inlined would be" in str(refused), path
            continue
        assert _lines(chosen, {}, statements, False)
        for s in statements:
            ranked = feasible(s)
            assert [m.cycles for m in ranked] == sorted(m.cycles for m in ranked), path
            assert all(m.cycles > 0 and m.waste >= 1 for m in ranked), path
            assert list(s.mappings[: len(ranked)]) == ranked, path
            assert s.mappings or not s.loops, path


@pytest.mark.parametrize(
    ("sample", "target", "instruction", "loops"),
    [
        ("gemm_u8s8", "amx", "tdpbusd", {"i": ("i",), "j": ("j",), "k/4": ("k",), "k%4": ("k",)}),
        ("gemm_u8s8", "avx512vnni", "vpdpbusd_zmm", {"l": ("j",), "q": ("k",)}),
        ("gemm_bf16", "avx512bf16", "vdpbf16ps_zmm", {"l": ("j",), "q": ("k",)}),
        ("conv_layer_u8s8", "avx512vnni", "vpdpbusd_zmm", {"l": ("k",), "q": ("c",)}),
        ("conv1d_u8s8", "avx512vnni", "vpdpbusd_zmm", {"l": ("x",), "q": ("r",)}),
    ],
)  # fmt: skip
def test_what_the_hand_schedules_use_is_at_the_top(
    sample: str, target: str, instruction: str, loops: dict[str, tuple[str, ...]]
) -> None:
    first = feasible(found(SAMPLES / f"{sample}.hb", target)[0])[:3]
    shapes = [(m.instruction, {a.row: a.loops for a in m.rows}) for m in first]
    assert (instruction, loops) in shapes


@pytest.mark.parametrize("target", ["amx", "avx512vnni", "arm_dot"])
@pytest.mark.parametrize(
    "term", ["i32(B[k, j]) * i32(A[i, k])", "i32(i16(A[i, k])) * i32(i16(B[k, j]))"]
)
def test_spelling_makes_no_difference(term: str, target: str) -> None:
    plain = product("i32(A[i, k]) * i32(B[k, j])", target)
    other = product(term, target)

    def by_instructions(s: Inspected) -> list[tuple[object, ...]]:
        ms = (m for m in feasible(s) if m.instruction != PLAIN)
        return [(m.instruction, m.rows, m.operands, m.cycles) for m in ms]

    assert by_instructions(plain)
    assert by_instructions(plain) == by_instructions(other)


def test_several_products_are_looked_at_one_by_one() -> None:
    text = PRODUCT.format("i32(A[i, k]) * i32(B[k, j]) + i32(A[i, k]) * i32(B[k, j])")
    parts = found(Source("product.hb", text), "avx512vnni")
    assert [(s.part, s.parts) for s in parts] == [(1, 2), (2, 2)]
    assert all(feasible(s)[0].instruction == "vpdpbusd_zmm" for s in parts)


def test_nothing_feasible_is_explained(tmp_path: Path, hbc: Command) -> None:
    """An order that must be kept has no plain form either."""
    file = tmp_path / "scan.hb"
    file.write_text(
        "size N\ninput I: f32[N]\noutput O: f32[N]\nreduce t in 1 .. N\n"
        "s[x] = I[x]\ns[t] = 0.5 * s[t - 1] + s[t]\nO[x] = s[x]\n"
    )
    done = hbc("inspect", file, "--target", "amx", "--json")
    (s,) = json.loads(done.out)["statements"]
    assert all(m["reason"] and m["cycles"] is None for m in s["mappings"])
    assert "reads what an earlier one stored" in s["mappings"][0]["reason"]
    assert "nothing does it" in hbc("inspect", file, "--target", "amx").out
