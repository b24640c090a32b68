"""Pins `hbc explain`: what was chosen, at which cost, by which rules; or why nothing was."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hbc.cli.movements import movement_lines
from hbc.ir.movement.moved import Moved

Command = Callable[..., Any]

PRODUCT = """\
size   M, N, K
input  A: u8[M, K]
input  B: i8[K, N]
output C: i32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += i32(A[i, k]) * i32(B[k, j])
C[i, j]    = acc[i, j]
schedule tiles for amx {
    C.tile(i, j, io, jo, ii, ji, 32, 16, tail = exact)
    C.split(ii, it, iv, 16).reorder(it, iv, ji).unroll(it).vectorize(iv).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile).split(i, it, iv, 16).unroll(it)
    acc.vectorize(iv).vectorize(j)
    acc.update.split(k, ko, ki, 64, tail = exact).split(i, it, iv, 16).reorder(ko, it, iv, j, ki)
    acc.update.atomic().unroll(it).vectorize(iv).vectorize(j).vectorize(ki)
}
schedule rows for avx512vnni {
    acc.compute_at(C, i).vectorize(j, 16)
    acc.update.reorder(j, k).vectorize(j, 16)
    C.vectorize(j, 16)
}
schedule plain for c { C.vectorize(j, 16) }
"""

PLAIN = """
plain code:
line 6: acc
  vectors of 16 along `j`
  stores `acc` contiguous
line 7: acc[i, j] += i32(A[i, k]) * i32(B[k, j])
  vectors of 16 along `j`
  loads `acc[i, j]` contiguous, `A[i, k]` the same for all lanes, `B[k, j]` contiguous
  stores `acc` contiguous
line 8: C
  vectors of 16 along `j`
  loads `acc[i, j]` contiguous
  stores `C` contiguous
"""


@pytest.fixture
def product(tmp_path: Path) -> Path:
    file = tmp_path / "product.hb"
    file.write_text(PRODUCT)
    return file


def test_text(hbc: Command, product: Path) -> None:
    done = hbc("explain", product, "--target", "amx")
    assert done.code == 0
    title, blank, statement, what, cost, rules = done.out.rstrip("\n").splitlines()
    assert (title, blank) == ("product for amx, schedule tiles", "")
    assert statement == "line 7: acc[i, j] += i32(A[i, k]) * i32(B[k, j])"
    assert what == ("  1 x tdpbusd with M=16, N=16, K=64, in each of 2 copies of the statement")
    assert cost.startswith("  about ") and "16 of the instructions" in cost
    assert rules.startswith("  rules: ") and "i32+u8+i8" in rules


def test_json(hbc: Command, product: Path) -> None:
    said = json.loads(hbc("explain", product, "--target", "amx", "--json").out)
    assert {k: said[k] for k in ("kernel", "target", "schedule")} == {
        "kernel": "product", "target": "amx", "schedule": "tiles",
    }  # fmt: skip
    (one,) = said["statements"]
    assert (one["line"], one["stage"], one["chosen"]) == (7, "acc", "tdpbusd")
    assert (one["count"], one["copies"], one["near_miss"]) == (1, 2, None)
    assert said["refused"] == []
    assert one["sizes"] == {"M": 16, "N": 16, "K": 64}
    cost = one["cost"]
    assert cost["compute"] == 16
    assert cost["total"] == pytest.approx(cost["compute"] + cost["memory"] + cost["conversion"])
    assert any(rule["name"] == "multiply-commutes" and rule["matches"] for rule in one["rules"])


def test_the_rest_of_a_loop(hbc: Command, product: Path) -> None:
    """A statement of whole pieces, and the same for what is left of the sum."""
    text = product.read_text().replace("(k, ko, ki, 64, tail = exact)", "(k, ko, ki, 64)")
    product.write_text(text)
    said = json.loads(hbc("explain", product, "--target", "amx", "--json").out)
    assert [s["part"] for s in said["statements"]] == ["whole", "tail"]
    shown = hbc("explain", product, "--target", "amx").out
    assert shown.count(", for what is left of a loop") == 1


def test_the_same_every_time(hbc: Command, product: Path) -> None:
    first = hbc("explain", product, "--target", "amx", "--json").out
    assert hbc("explain", product, "--target", "amx", "--json").out == first


def test_a_near_miss(hbc: Command, product: Path) -> None:
    product.write_text(PRODUCT.replace("u8[M", "i16[M").replace("i8[K", "i16[K"))
    done = hbc("explain", product, "--target", "amx", "--json")
    assert done.code == 5
    assert "no tile instruction does this to `acc`" in done.err
    (one,) = json.loads(done.out)["statements"]
    assert (one["line"], one["chosen"], one["cost"]) == (7, None, None)
    assert one["near_miss"]["nearest"].startswith("tdpb")
    assert one["near_miss"]["condition"].startswith("it multiplies i16 by i16 into i32, and `tdpb")
    assert one["near_miss"]["edit"]
    (refused,) = json.loads(done.out)["refused"]
    assert (refused["severity"], refused["line"], refused["column"]) == ("error", 7, 1)
    assert refused["message"] == done.err.splitlines()[0].partition("error: ")[2]
    assert f"hint: {refused['hint']}" in done.err


def test_a_mistake_elsewhere_is_all_that_is_said(hbc: Command, product: Path) -> None:
    isa = product.with_name("mine.hb")
    isa.write_text("instruction nothing")
    done = hbc("explain", product, "--target", "amx", "--isa", isa)
    assert done.code == 1
    assert "mine.hb:1" in done.err
    assert not done.out


def test_nothing_to_explain(hbc: Command, product: Path) -> None:
    product.write_text(PRODUCT.replace("acc[i, j] += ", "acc[i, j] max= "))
    done = hbc("explain", product, "--target", "avx512vnni")
    assert done.code == 0
    assert done.out == (
        "product for avx512vnni, schedule rows\n"
        "  there is nothing for instructions to do: they add up over vectorized reduction loops\n"
        + PLAIN.replace("+=", "max=")
    )
    done = hbc("explain", product, "--target", "c")
    assert "c has no tensor instructions" in done.out


def test_plain_code(hbc: Command, tmp_path: Path) -> None:
    """Each access of a kernel without tensor instructions by the way its lanes lie; what is scalar."""
    file = tmp_path / "ways.hb"
    file.write_text(
        "size N, K\ninput x: f32[K]\ninput A: f32[N, 4 * K]\ninput at: i32[N]\n"
        "output O: f32[N]\noutput P: f32[N]\noutput Q: f32[N]\nreduce k in K\n"
        "O[i] = 0\nO[i] += A[i, k] * x[k]\n"
        "P[i] = A[0, min(max(at[i], 0), 4 * K - 1)] + A[0, min(2 * i, 4 * K - 1)]\nQ[i] = A[i, 0]\n"
        "schedule s for avx2 {\n    O.vectorize(i, 8)\n    O.update.reorder(k, i).vectorize(i, 8)\n"
        "    P.vectorize(i, 8)\n}\n"
    )
    said = json.loads(hbc("explain", file, "--target", "avx2", "--json").out)["plain"]
    assert [(s["line"], s["stage"], s["vectors"]) for s in said] == [
        (9, "O", [{"loop": "i", "lanes": 8}]),
        (10, "O", [{"loop": "i", "lanes": 8}]),
        (11, "P", [{"loop": "i", "lanes": 8}]),
        (12, "Q", []),
    ]
    found = {(a["text"], a["reach"], a["step"]) for s in said for a in s["accesses"]}
    assert found == {
        ("O", "contiguous", None), ("O[i]", "contiguous", None), ("P", "contiguous", None),
        ("A[i, k]", "lanes", "A_stride0"), ("x[k]", "broadcast", None), ("at[i]", "contiguous", None),
        ("A[0, min(max(at[i], 0), 4 * K - 1)]", "gathered", None),
        ("A[0, min(2 * i, 4 * K - 1)]", "strided", "2"),
    }  # fmt: skip
    text = hbc("explain", file, "--target", "avx2").out
    assert "  scalar: no loop of it is vectorized\n" in text
    assert "`A[i, k]` lane by lane (distance A_stride0), `x[k]` the same for all lanes" in text


def test_elements_for_several_lanes(hbc: Command, tmp_path: Path) -> None:
    """Two integers of 4 bits in a byte are neighbours that two lanes have each; so is what is scaled up."""
    file = tmp_path / "repeated.hb"
    file.write_text(
        "size N\ninput W: u4[N]\ninput x: f32[N]\noutput O: f32[N]\nO[i] = f32(W[i]) + x[i / 4] + x[i % 2]\n"
        "schedule s for avx2 {\n    O.vectorize(i, 8)\n}\n"
    )
    (said,) = json.loads(hbc("explain", file, "--target", "avx2", "--json").out)["plain"]
    found = {(a["text"], a["reach"], a["times"]) for a in said["accesses"]}
    assert found == {
        ("O", "contiguous", 1), ("W[i]", "repeated", 2), ("x[i / 4]", "repeated", 4),
        ("x[i % 2]", "strided", 1),
    }  # fmt: skip
    text = hbc("explain", file, "--target", "avx2").out
    assert "`W[i]` contiguous (each for 2 lanes)" in text


def test_a_sum_that_takes_one_term_at_a_time(hbc: Command, product: Path) -> None:
    """Its line is named, and what would let instructions do it."""
    done = hbc("explain", product, "--target", "avx512vnni")
    assert done.code == 0
    assert done.out == (
        "product for avx512vnni, schedule rows\n\n"
        "line 7: acc[i, j] += i32(A[i, k]) * i32(B[k, j])\n"
        "  no instruction: its sum over `k` takes one term at a time\n"
        "  to change that: vectorize a reduction loop: `acc.update.atomic().vectorize(..)`\n"
        + PLAIN
    )
    (one,) = json.loads(hbc("explain", product, "--target", "avx512vnni", "--json").out)[
        "statements"
    ]
    assert (one["line"], one["stage"], one["chosen"]) == (7, "acc", None)
    assert one["near_miss"]["nearest"] is None
    assert one["near_miss"]["condition"] == "its sum over `k` takes one term at a time"


def test_sums_at_places_that_data_says(hbc: Command, product: Path) -> None:
    """What is written at a reduction variable is not summed over it."""
    product.write_text(
        "size N\ninput A: u8[N]\noutput H: i32[256]\noutput S: i32[N]\nreduce r in N\n"
        "H[b] = 0\nH[i32(A[r])] += 1\nS[i] = 0\nS[r] += i32(A[r])\n"
    )
    done = hbc("explain", product, "--target", "avx512vnni")
    assert done.code == 0
    assert "there is nothing for instructions to do" in done.out


def test_what_registers_do_not_suffice_for(hbc: Command, product: Path) -> None:
    """What is chosen is shown, and that `compile` refuses it."""
    product.write_text(PRODUCT.replace("32, 16, tail", "160, 16, tail"))
    done = hbc("explain", product, "--target", "amx")
    refused = hbc("compile", product, "--target", "amx", "-o", product.parent)
    assert "tdpbusd" in done.out
    assert (done.code, done.err) == (refused.code, refused.err) and done.code == 1
    assert "tile registers are needed at once" in done.err


def test_what_registers_do_not_suffice_for_in_json(hbc: Command, product: Path) -> None:
    """Why, and what to change, stands by the statement: an instruction was chosen and cannot be used."""
    product.write_text(PRODUCT.replace("32, 16, tail", "160, 16, tail"))
    done = hbc("explain", product, "--target", "amx", "--json")
    said = json.loads(done.out)
    (one,), (refused,) = said["statements"], said["refused"]
    assert (done.code, one["chosen"]) == (1, "tdpbusd")
    assert one["near_miss"] == {
        "nearest": "tdpbusd", "condition": refused["message"], "edit": refused["hint"],
    }  # fmt: skip
    assert "tile registers are needed at once, and there are 8" in refused["message"]
    assert refused["hint"].startswith("keep fewer tiles of `acc`: ")
    assert (refused["file"], refused["line"]) == (str(product), 6)


def test_what_tiles_do_not_take_in_json(hbc: Command, product: Path) -> None:
    product.write_text(PRODUCT.replace("atomic().unroll(it).", "atomic()."))
    done = hbc("explain", product, "--target", "amx", "--json")
    (refused,) = json.loads(done.out)["refused"]
    assert done.code == 1
    assert "which of its tiles is meant here depends on `it`" in refused["message"]
    assert refused["hint"].endswith("`.unroll(it)`")
    assert f"hint: {refused['hint']}" in done.err


PAIRS = """\
instruction pairs(c: i32[8], a: i16[8, 2], b: i16[8, 2]) in ymm {
    reduce q in 2
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = _mm256_add_epi32({c}, _mm256_madd_epi16({a}, {b}));"
cost { latency 4; per_cycle 1 }
needs avx2
"""


def test_an_instruction_of_ones_own_where_there_are_none(hbc: Command, product: Path) -> None:
    isa = product.with_name("pairs.hb")
    isa.write_text(PAIRS)
    rows = PRODUCT.replace("u8[", "i16[").replace("i8[", "i16[").replace("avx512vnni", "avx2")
    product.write_text(
        rows.replace(
            "acc.update.reorder(j, k).vectorize(j, 16)",
            "acc.update.split(k, ko, ki, 2).reorder(ko, j, ki).atomic().vectorize(ki).vectorize(j, 8)",
        )
    )
    done = hbc("explain", product, "--target", "avx2", "--isa", isa)
    assert "x pairs" in done.out
    cost = done.out.split("about ")[1].splitlines()[0]
    total, *parts = (float(w) for w in cost.replace(",", "").split() if w[0].isdigit())
    assert total == pytest.approx(sum(parts), abs=0.2)


INTERLEAVED = """size N
input A: f32[N, 2]
output B: f32[N, 2]
B[i, c] = A[i, 1 - c]
schedule fast for avx2 { B.split(i, io, ii, 8).reorder(io, c, ii).vectorize(ii).unroll(c) }
"""


def test_a_schedule_for_another_target_is_named(hbc: Command, tmp_path: Path) -> None:
    """It serves; its vectors are those of the target that it was written for."""
    file = tmp_path / "swap.hb"
    file.write_text(INTERLEAVED)
    own, other = (
        hbc("explain", file, "--target", t).out.splitlines()[0] for t in ("avx2", "avx512")
    )
    assert own == "swap for avx2, schedule fast"
    assert other.startswith("swap for avx512, schedule fast, which is written for avx2 (`--sch")


def test_one_is_no_plural() -> None:
    one = Moved("A", False, "f32x8", 1, 1, 1, 1, None)
    assert movement_lines([one, replace(one, moves=0), replace(one, stored=True, whole=2)])[2:] == [
        "  `A`: a vector of f32x8 by 1 load and 1 instruction that moves elements, "
        "instead of about 1 instruction",
        "  `A`: a vector of f32x8 by 1 load of several vectors whose elements alternate, "
        "instead of about 1 instruction",
        "  `A`: a vector of f32x8 by 2 stores and 1 instruction that moves elements, "
        "instead of about 1 instruction",
    ]


def test_movements(hbc: Command, tmp_path: Path) -> None:
    """What is loaded and stored in whole registers, the two outputs of a group together."""
    file = tmp_path / "swap.hb"
    file.write_text(INTERLEAVED)
    said = hbc("explain", file, "--target", "avx2").out.splitlines()
    assert said[-3:] == [
        "elements that lie apart, moved in whole registers:",
        "  `A`: 2 vectors of f32x8 by 2 loads and 4 instructions that move elements, "
        "instead of about 10 instructions",
        "  `B`: 2 vectors of f32x8 by 2 stores and 4 instructions that move elements, "
        "instead of about 32 instructions",
    ]
    found = json.loads(hbc("explain", file, "--target", "avx2", "--json").out)["movements"]
    assert [(m["buffer"], m["instructions"], m["accesses"]) for m in found] == [
        ("A", 4, 2),
        ("B", 4, 2),
    ]
