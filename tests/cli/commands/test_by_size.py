"""Commands on kernels that take one of several schedules by their sizes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

PRODUCT = """\
kernel product
size   M, N, K
input  A: u8[M, K]
input  B: i8[K, N]
output C: i32[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += i32(A[i, k]) * i32(B[k, j])
C[i, j]    = acc[i, j]

schedule deep for avx512vnni where K % 64 == 0 and N >= 16 {
    C.tile(i, j, io, jo, ii, ji, 2, 32).vectorize(ji, 16).unroll(ji).unroll(ii)
    acc.compute_at(C, jo).store_in(registers).vectorize(j, 16).unroll(i).unroll(j)
    acc.update.split(k, ko, ki, 4).reorder(ko, i, j, ki).atomic()
    acc.update.vectorize(j, 16).vectorize(ki).unroll(i).unroll(j)
}
schedule any for c { C.unroll(j, 2) }

example { M = 8; N = 32; K = 64; A = random(1); B = random(2) }
"""


@pytest.fixture
def product(tmp_path: Path) -> Path:
    file = tmp_path / "product.hb"
    file.write_text(PRODUCT)
    return file


@pytest.mark.parametrize("constant", ["", " constant"])
def test_verify_tries_sizes_for_each(hbc: Command, product: Path, constant: str) -> None:
    """With a constant input, too: it is packed as the schedule of the sizes wants it."""
    product.write_text(PRODUCT.replace("[K, N]", f"[K, N]{constant}", 1))
    done = hbc("verify", product, "--target", "avx512vnni", "--json", "--trials", "3")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["schedule"] == "deep or any"
    assert found["by_schedule"] == {"deep": 7, "any": 6}


def test_verify_says_where_no_sizes_are_left(hbc: Command, product: Path) -> None:
    done = hbc("verify", product, "--target", "avx512vnni", "--set", "K=64", "--set", "N=32", "--no-native",
               "--trials", "1")  # fmt: skip
    assert done.code == 0
    assert "no sizes were found at which `any` is chosen" in done.err


@pytest.mark.parametrize(("k", "name"), [("64", "deep"), ("63", "any")])
def test_run_and_bench_name_the_one_that_is_taken(
    hbc: Command, product: Path, k: str, name: str
) -> None:
    sizes = ("--target", "avx512vnni", "--set", f"K={k}", "--set", "M=4", "--set", "N=16", "--json")
    for command in (("run",), ("bench", "--seconds", "0.01")):
        done = hbc(*command, product, *sizes)
        if done.code == 4:
            pytest.skip("the processor has no VNNI")
        assert done.code == 0, done.err
        assert json.loads(done.out)["schedule"] == name


def test_one_by_its_name_wants_its_sizes(hbc: Command, product: Path) -> None:
    product.write_text(PRODUCT.replace("avx512vnni where", "c where").replace(".vectorize(ki)", ""))
    done = hbc("run", product, "--target", "c", "--schedule", "deep", "--set", "K=63")
    assert done.code == 1
    assert "schedule `deep` is for sizes where K % 64 == 0 and N >= 16" in done.err


def test_explain_takes_them_apart(hbc: Command, product: Path) -> None:
    done = hbc("explain", product, "--target", "avx512vnni")
    assert done.code == 0
    titles = [line for line in done.out.splitlines() if line.startswith("product for")]
    assert titles == [
        "product for avx512vnni, schedule deep where K % 64 == 0 and N >= 16",
        "product for avx512vnni, schedule any, which is written for c (`--schedule auto` makes another)",
    ]
    found = json.loads(hbc("explain", product, "--target", "avx512vnni", "--json").out)
    chosen = {(s["schedule"], s["chosen"]) for s in found["statements"]}
    assert chosen == {("deep", "vpdpbusd_zmm"), ("any", None)}


def test_loops_in_their_order(hbc: Command, product: Path) -> None:
    done = hbc("compile", product, "--target", "avx512vnni", "--emit", "loops", "-o", "-")
    titles = [line for line in done.out.splitlines() if line.startswith("kernel")]
    assert titles == [
        "kernel product, schedule deep for avx512vnni where K % 64 == 0 and N >= 16",
        "kernel product, schedule any for c",
    ]


def test_auto_stands_last_where_all_have_conditions(hbc: Command, product: Path) -> None:
    product.write_text(PRODUCT.replace("schedule any for c { C.unroll(j, 2) }\n", ""))
    done = hbc("compile", product, "--target", "avx512vnni", "--emit", "loops", "-o", "-")
    assert "schedule auto for `avx512vnni` at sizes that `deep` is not for: " in done.err
    assert "kernel product, schedule auto for avx512vnni" in done.out


def test_the_page_links_comments_to_the_schedule_that_made_the_loop(
    hbc: Command, product: Path, tmp_path: Path
) -> None:
    """Both have a line `C.unroll(j, 2)`; each loop belongs to its own."""
    text = PRODUCT.replace(".vectorize(ki)", "").replace("avx512vnni where", "c where")
    twice = text.replace(
        "schedule any for c",
        "schedule few for c where M < 2 { C.unroll(j, 2) }\nschedule any for c",
    )
    product.write_text(twice)
    done = hbc("compile", product, "--target", "c", "--emit", "html", "-o", tmp_path)
    assert done.code == 0
    page = (tmp_path / "product.html").read_text()
    few, rest = (n for n, line in enumerate(twice.splitlines(), 1) if "C.unroll(j, 2)" in line)
    for line, name in ((few, "few"), (rest, "any")):
        assert f"{name}: C.unroll(j, 2)" in page.replace('<span class="c1">', "")
        assert page.count(f'data-s="{line}"') > 1


def test_check_and_fmt(hbc: Command, product: Path) -> None:
    assert hbc("check", product).code == 0
    before = product.read_text()
    assert hbc("fmt", product).code == 0
    assert product.read_text() == before
    product.write_text(before.replace("where K % 64 == 0 and", "where   K%64==0   and"))
    assert hbc("fmt", product).code == 0
    assert product.read_text() == before


def test_tuning_starts_from_those_for_the_sizes(product: Path) -> None:
    from hbc.cli.pipeline import load_pipeline
    from hbc.frontend.automatic.points import FROM, space_of
    from hbc.ir.lang.target import TARGETS

    p = load_pipeline(product, {})
    target = TARGETS["avx512vnni"]
    assert [s.name for s in space_of(p, target, {"K": "64"}, "t").own] == ["deep"]
    assert not space_of(p, target, {"K": "63"}, "t").own
    text = space_of(p, target, {}, "t").made({FROM: "deep"}).text
    assert text.startswith("schedule t for avx512vnni where K % 64 == 0 and N >= 16 {")
