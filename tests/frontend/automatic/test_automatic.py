"""Automatic schedules: right for every class of Func and target, vectors where they should be, and fast
to make. (`tests/fuzz` tries them on random programs.)"""

from __future__ import annotations

import shutil
import time
from functools import cache
from pathlib import Path

import pytest

from hbc.cli.automatic import Automatic, automatic
from hbc.cli.main import exit_code_of
from hbc.cli.pipeline import load_pipeline, lower_to_kernel
from hbc.codegen.build.processor import can_run
from hbc.frontend.automatic.candidates import candidates
from hbc.frontend.checks.check import check
from hbc.frontend.plans.inline_limit import Inlined, measure
from hbc.frontend.plans.legal import stage_expressions
from hbc.frontend.regions.promises import promises_among
from hbc.frontend.text.parse import parse
from hbc.ir.algebra.simplify import simplify, simplify_stmt
from hbc.ir.beforehand.split import split_constants
from hbc.ir.ground.source import Source
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const, const_value
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import nodes, substitute, substitute_stmt

KERNELS = Path(__file__).parent / "kernels"
ERRORS = Path(__file__).parents[2] / "errors"
SAMPLES = Path(__file__).parents[3] / "samples"
ALL = sorted(KERNELS.glob("*.hb"))
TARGETS_TRIED = ("c", "avx2", "avx512", "arm_dot")
SAFE = "vectors along the innermost loops"


@cache
def _made(kernel: Path, target: str, settings: tuple[tuple[str, str], ...]) -> Automatic:
    found = automatic(load_pipeline(kernel, {}), TARGETS[target], dict(settings), False)
    assert found is not None
    return found


def made(kernel: Path, target: str, settings: dict[str, str] | None = None) -> Automatic:
    """The schedule that hbc makes; once for each target and settings, as several tests look at it."""
    return _made(kernel, target, tuple((settings or {}).items()))


@pytest.mark.parametrize("target", TARGETS_TRIED)
@pytest.mark.parametrize("kernel", ALL, ids=lambda k: k.stem)
def test_the_interpreter_agrees_with_the_oracle(kernel: Path, target: str) -> None:
    """At odd sizes, after the passes."""
    arguments = ["verify", str(kernel), "--schedule", "auto", "--target", target]
    assert exit_code_of([*arguments, "--trials", "1", "--no-native"]) == 0


@pytest.mark.parametrize("kernel", ALL, ids=lambda k: k.stem)
def test_native_code_agrees_with_the_oracle(kernel: Path) -> None:
    """On the example too, by the target that this machine takes of itself."""
    assert exit_code_of(["verify", str(kernel), "--trials", "3"]) == 0


@pytest.mark.parametrize("target", ["avx2", "avx512"])
@pytest.mark.parametrize("kernel", ALL, ids=lambda k: k.stem)
def test_the_first_choice_is_lowered(kernel: Path, target: str) -> None:
    """Nothing is refused and then replaced by less, and something is in vectors."""
    found = made(kernel, target)
    assert found.about != SAFE, found.refused
    assert "vectorize(" in found.text


def test_rows_of_a_triangle_are_in_vectors() -> None:
    """Whose reductions end where others are; not where the lanes decide how far these go."""
    triangle = made(KERNELS / "triangle.hb", "avx512").text
    assert "z.update.split(j, jo, ji, 64).reorder(jo, i, k, ji).split(ji, jm, jv, 16)" in triangle
    prefixes = made(KERNELS / "prefixes.hb", "avx512").text
    assert "O.update.parallel(y)" in prefixes and "O.update.split" not in prefixes


# What stands in the text for each class: the shape that hand-written schedules have.
SHAPES = {
    "argmax": ("rfactor(ki, u)", "best_u.update.reorder(i, ko, u).vectorize(u"),
    "batched": ("store_in(registers)", "unroll("),
    "blur": ("rows.compute_at(O, ", "split(y, "),
    "conv3d": ("store_in(registers)", "reorder(z, y, q, s, r, c, x, k)"),
    "gemm_in_place": ("C.update.split(i, ", "reorder(io, jo, k, ii, ji)"),
    "gemm_nt": ("B.in(acc).compute_at(", "reorder_storage(k, j)"),
    "gemv": ("rfactor(", "acc_u.update.reorder(i, ko, u)"),
    "harris": ("Ix.compute_at(O, ", "hx.compute_at(O, "),
    "histogram": ("h.compute_root()",),
    "lookup": ("vectorize(di, ",),
    "running": ("down.update.reorder(y, j).vectorize(j, ",),
    "softmax": ("rfactor(", "part.compute_at(Y, "),
    "total": ("rfactor(",),
    "unsharp": ("gray.compute_at(O, ", "blur.compute_at("),
}


def test_memory_lies_as_lanes_go() -> None:
    """Where the last variable has few values; what was computed along another is turned round in blocks, and
    all values of a Func count for whether to keep it."""
    text = made(KERNELS / "few_behind.hb", "avx512").text
    assert "r.compute_at(O, m).bound(z, 0, 2).reorder_storage(m, z, k)" in text
    assert "t.compute_root().bound(q, 0, 16).reorder_storage(m, q, k)" in text
    assert "unroll(q).vectorize(ki, 16)" in text or "unroll(qi).vectorize(ki, 16)" in text
    assert "c.compute_root()" in text
    passes = made(KERNELS / "passes.hb", "avx512").text
    assert "v.compute_root().reorder_storage(s, i).reorder(s, i).vectorize(i, 16)" in passes
    assert "v.update.split(i, io, ii, 64).reorder(io, k, j, ii)" in passes


@pytest.mark.parametrize("name", SHAPES)
def test_each_class_has_its_shape(name: str) -> None:
    text = made(KERNELS / f"{name}.hb", "avx512").text
    assert [part for part in SHAPES[name] if part not in text] == [], text


@pytest.mark.parametrize(
    ("sample", "target", "expected"),
    [
        ("gemm_u8s8", "avx512vnni", "split(k, ko, ki, 4)"),
        ("gemm_bf16", "avx512bf16", "split(k, ko, ki, 2)"),
        ("gemm_u8s8", "arm_dot", "split(k, ko, ki, 4)"),
        ("gemm_u8s8", "amx", "store_in(amx_tile)"),
        ("conv_layer_u8s8", "amx", "split(c, co, ci, 64)"),
        ("conv1d_u8s8", "avx512vnni", "split(r, ro, ri, 32)"),
        ("conv1d_bf16", "amx", "tile(y, x, yo, xo, yi, xi, 2, 256, tail = shift)"),
        ("conv1d_u8s8", "amx", "vectorize(y).vectorize(x)"),
        ("downsample_bf16", "amx", "tile(y, x, yo, xo, yi, xi, 2, 256, tail = shift)"),
        ("conv2d_u8s8", "avx512vnni", "split(c, co, ci, 4)"),
        ("conv2d_u8s8", "arm_dot", "split(c, co, ci, 4)"),
        ("conv2d_u8s8", "amx", "split(c, co, ci, 64)"),
        ("conv2d_bf16", "avx512bf16", "split(c, co, ci, 2)"),
        ("conv2d_nchwc_u8s8", "avx512vnni", "vectorize(e)"),
        ("conv3d_u8s8", "avx512vnni", "split(c, co, ci, 4)"),
        ("conv3d_u8s8", "amx", "store_in(amx_tile)"),
        ("grouped_u8s8", "avx512vnni", "split(c, co, ci, 4)"),
    ],
)
def test_products_that_instructions_do_are_given_to_them(
    sample: str, target: str, expected: str
) -> None:
    found = made(SAMPLES / f"{sample}.hb", target)
    assert expected in found.text
    assert found.kernel.instructions


@pytest.mark.parametrize(("taps", "depth"), [("16", 16), ("40", 32), ("300", 32)])
def test_taps_of_a_product_are_no_more_than_there_are(taps: str, depth: int) -> None:
    """Where 16 were cut from 32 all of them were a tail, which took twice the time."""
    given = {"TI": "u8", "TK": "i8", "TO": "i32", "H": "512", "W": "512", "T": taps}
    found = automatic(load_pipeline(SAMPLES / "conv2d.hb", given), TARGETS["amx"], given, False)
    assert found is not None and found.refused == ()
    assert f"acc.update.split(r, ro, ri, {depth})" in found.text


@pytest.mark.parametrize("target", ["avx512vnni", "arm_dot", "amx"])
def test_sums_of_an_output_go_where_instructions_want_them(target: str) -> None:
    """In a Func of their own; at sizes with tails in all directions."""
    kernel = KERNELS / "gemm_u8s8_in_place.hb"
    found = made(kernel, target)
    assert "C.cache_write(acc)" in found.text
    assert found.kernel.instructions and not found.refused
    arguments = ["verify", str(kernel), "--schedule", "auto", "--target", target, "--no-native"]
    assert exit_code_of([*arguments, "--trials", "1"]) == 0


@pytest.mark.parametrize("target", ["avx512vnni", "avxvnni", "arm_dot"])
@pytest.mark.parametrize("types", ["u8s8", "s8s8", "i4s8"])
def test_bytes_by_a_vector_are_summed_by_dot_products_along_the_rows(
    types: str, target: str
) -> None:
    """Each adds neighbours of both operands to a lane of partial sums; at sizes with tails."""
    kernel = KERNELS / f"gemv_{types}.hb"
    found = made(kernel, target)
    assert "split(ki, kv, kq, 4).rfactor(kv, u)" in found.text and "vectorize(kq)" in found.text
    assert found.kernel.instructions and not found.refused
    arguments = ["verify", str(kernel), "--schedule", "auto", "--target", target, "--no-native"]
    assert exit_code_of([*arguments, "--trials", "1"]) == 0


@pytest.mark.parametrize(
    ("sample", "size", "group"),
    [("gemm_bf16", 512, 0), ("gemm_bf16", 1024, 16), ("gemm_bf16", 2048, 8),
     ("gemm_u8s8", 1024, 0), ("gemm_u8s8", 2048, 16)],
)  # fmt: skip
def test_as_many_columns_as_the_second_cache_keeps_see_all_rows(
    sample: str, size: int, group: int
) -> None:
    """A megabyte of B: 32 columns of bf16 at K = 1024 are 64 KB."""
    sizes = dict.fromkeys("MNK", str(size))
    found = automatic(load_pipeline(SAMPLES / f"{sample}.hb", sizes), TARGETS["amx"], sizes, False)
    assert found is not None and found.refused == ()
    text = " ".join(found.text.split())
    assert (f"split(jo, jg, jo, {group})" in text) == (group > 0), text
    assert ("reorder(jg, io, jo, " in text) == (group > 0)
    assert "parallel(io)" in text


def test_what_an_instruction_does_not_do_is_left_to_vectors(tmp_path: Path) -> None:
    """i16 by i16 is no product of tiles."""
    kernel = tmp_path / "k.hb"
    text = (SAMPLES / "gemm_u8s8.hb").read_text(encoding="utf-8")
    text = text.replace("A: u8", "A: i16").replace("B: i8", "B: i16")
    kernel.write_text(text.partition("\nschedule ")[0], encoding="utf-8")
    found = made(kernel, "amx")
    assert "amx_tile" not in found.text
    assert "store_in(registers)" in found.text


def test_an_inner_stage_is_computed_where_it_stays_in_the_cache() -> None:
    """The scores of attention for some rows at a time, not for all."""
    text = made(SAMPLES / "attention.hb", "avx512").text
    assert "score.compute_root()" not in text
    assert "weight.compute_at(O, " in text


def test_typical_sizes_decide_and_odd_ones_stay_right(tmp_path: Path) -> None:
    """Blocks are made for the sizes that are set; other sizes get the same results."""
    narrow = made(SAMPLES / "gemm_f32.hb", "avx512", {"N": "16"})
    assert narrow.text != made(SAMPLES / "gemm_f32.hb", "avx512").text
    kernel = tmp_path / "gemm.hb"
    text = (SAMPLES / "gemm_f32.hb").read_text(encoding="utf-8")
    example = text[text.index("example {") :]
    kernel.write_text(text.partition("\nschedule ")[0] + "\n" + example, encoding="utf-8")
    # For these sizes, and as made for those of the example, at these sizes.
    for sizes in (("1", "1", "1"), ("5", "67", "3")):
        given = [part for n, v in zip("MNK", sizes, strict=True) for part in ("--set", f"{n}={v}")]
        assert exit_code_of(["verify", str(kernel), "--trials", "2", *given]) == 0
    assert exit_code_of(["verify", str(kernel), "--trials", "3", "--no-native"]) == 0


def test_values_that_small_sizes_do_not_need_are_not_promised(tmp_path: Path) -> None:
    """`g` is read up to 7 only where N is large enough: `bound(x, 0, 8)` would refuse the call."""
    kernel = tmp_path / "k.hb"
    kernel.write_text(
        "size N\ninput A: u16[8]\noutput O: i32[N]\nreduce r in 8\n"
        "g[x] = 0\ng[x] += i32(A[r]) * i32(A[clamp(x, 0, 7)])\n"
        "O[x] = g[clamp(x / 4, 0, 7)] + g[clamp(x / 2, 0, 7)]\n",
        encoding="utf-8",
    )
    assert promises_among(made(kernel, "avx2").kernel.checks) == []


def test_the_same_file_gets_the_same_schedule() -> None:
    kernel = SAMPLES / "resize.hb"
    again = automatic(load_pipeline(kernel, {}), TARGETS["avx512"], {}, False)
    assert again is not None and made(kernel, "avx512").text == again.text


def test_making_one_takes_little_of_the_processor() -> None:
    """Of the largest sample, to the kernel before its C: twice what plain lowering takes, about."""
    pipeline = load_pipeline(SAMPLES / "resize.hb", {})
    start = time.process_time()
    automatic(pipeline, TARGETS["avx512"], {}, False)
    assert time.process_time() - start < 8  # 0.6 on a 3.7 GHz core


def test_every_sample_without_its_schedules_is_lowered(tmp_path: Path) -> None:
    """By the first candidates, not by the one that fits anything."""
    shutil.copytree(SAMPLES / "data", tmp_path / "data")
    weak = []
    for sample in sorted(SAMPLES.glob("*.hb")):
        for target in ("avx512", "avx2"):
            if made(sample, target).about == SAFE:
                weak.append(f"{sample.stem} for {target}")
    assert weak == []


@pytest.mark.parametrize("app", sorted((SAMPLES / "apps").glob("*.hb")), ids=lambda app: app.stem)
def test_every_application_without_its_schedules_is_lowered(app: Path) -> None:
    """By the first candidate: what is computed at loops of an update is computed at loops that it has."""
    found = made(app, "avx512")
    assert found.about != SAFE
    assert [reason for reason in found.refused if "loop" in reason] == []


@pytest.mark.parametrize("target", ["c", "avx512"])
@pytest.mark.parametrize(
    "kernel",
    [SAMPLES / "apps/bilateral_grid.hb", ERRORS / "limit_inlined.hb"],
    ids=lambda k: k.stem,
)
def test_the_last_candidate_fits_where_inlining_would_not_end(kernel: Path, target: str) -> None:
    """So do plain loops: what would be too long inlined is computed apart."""
    pipeline = load_pipeline(kernel, {})
    *_, last = candidates(pipeline, TARGETS[target], {}, "last")
    assert last.about == SAFE and "compute_root()" in last.text
    with_it = Source(kernel.name, f"{pipeline.source.text}\n{last.text}")
    checked = check(parse(with_it), {})
    lower_to_kernel(checked, checked.schedules[-1], TARGETS[target])
    lower_to_kernel(pipeline, None, TARGETS[target])


@pytest.mark.parametrize("sample", ["local_laplacian", "interpolate"])
def test_the_last_candidate_of_a_pyramid_is_made_of_short_formulas(sample: str) -> None:
    """Long ones, of a level in terms of the levels before, take minutes to lower."""
    pipeline = load_pipeline(SAMPLES / f"apps/{sample}.hb", {})
    *_, last = candidates(pipeline, TARGETS["avx512"], {}, "last")
    inlined: dict[str, Inlined] = {}
    for func in pipeline.funcs:
        for update in (None, *range(len(func.updates))):
            for e in stage_expressions(func, update):
                assert measure(e, inlined).length <= 1_000, func.name
        if f" {func.name}.compute_root()" not in last.text and not func.updates:
            inlined[func.name] = Inlined(func.variables, measure(func.pure, inlined))


@pytest.mark.skipif(not can_run(TARGETS["avx2"]), reason="runs AVX2 code")
@pytest.mark.parametrize("sample", ["recursive", "upsample", "denoise", "attention", "resize"])
def test_samples_run_right_by_schedules_that_hbc_makes(sample: str) -> None:
    arguments = ["verify", str(SAMPLES / f"{sample}.hb"), "--schedule", "auto"]
    assert exit_code_of([*arguments, "--target", "avx2", "--trials", "2"]) == 0


GEMM_BF16 = """
size   M, N, K
input  A: bf16[M, K]
input  B: bf16[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j]
"""


def test_sizes_may_be_called_as_statements_begin(tmp_path: Path) -> None:
    """A condition on `blocks` was written in backquotes, and so refused: no tiles."""
    kernel = tmp_path / "gemm.hb"
    kernel.write_text(GEMM_BF16.replace("K", "blocks"))
    assert "specialize(blocks % 32 == 0)" in made(kernel, "amx").text


def test_an_edge_that_is_never_met_is_no_stage() -> None:
    """A padded image is copied where there is padding, or where steps of instructions are left over."""
    sample = SAMPLES / "conv2d_u8s8.hb"

    def staged(**settings: str) -> bool:
        pipeline = load_pipeline(sample, settings)
        found = automatic(pipeline, TARGETS["avx512vnni"], settings, False)
        assert found is not None and found.kernel.instructions
        return "padded.compute" in found.text

    assert not staged()
    assert not staged(stride="2")
    assert not staged(R="1", S="7", stride="2", H="20")
    assert staged(pad="1")
    assert staged(C="70")


def test_steps_of_instructions_that_come_out_even_have_loops_of_their_own() -> None:
    sample = SAMPLES / "conv2d_u8s8.hb"
    assert "specialize(C % 4 == 0)" in made(sample, "avx512vnni").text
    assert "specialize" not in made(sample, "avx512vnni", {"C": "70"}).text
    assert "specialize" not in made(sample, "avx512").text
    assert "specialize(T % 4 == 0)" not in made(SAMPLES / "conv1d_u8s8.hb", "avx512vnni").text


@pytest.mark.skipif(not can_run(TARGETS["avx2"]), reason="runs AVX2 code")
@pytest.mark.parametrize(
    ("sample", "settings"),
    [
        ("conv2d_u8s8", "R=1 S=1 H=7 W=5 C=70 K=40"),
        ("conv2d_u8s8", "R=7 S=7 stride=2 pad=3 H=20 W=17 C=3 K=64"),
        ("conv2d_u8s8", "R=1 S=7 pad=1 H=6 W=9 C=20 K=24"),
        ("conv2d_bf16", "stride=2 pad=1 H=8 W=7 C=33 K=17"),
        ("conv2d_nchwc_u8s8", "pad=1 H=6 W=7 C=2 K=3"),
        ("conv3d_u8s8", "stride=2 pad=1 D=5 H=6 W=7 C=9 K=18"),
        ("depthwise_u8s8", "stride=2 pad=1 H=9 W=8 C=70"),
        ("grouped_u8s8", "pad=1 H=5 W=6 G=3 C=10 K=18"),
    ],
)
def test_layers_are_right_at_odd_sizes(sample: str, settings: str) -> None:
    """By the best target of this machine."""
    given = [part for word in settings.split() for part in ("--set", word)]
    assert exit_code_of(["verify", str(SAMPLES / f"{sample}.hb"), "--trials", "1", *given]) == 0


@pytest.mark.parametrize(
    ("sample", "target"),
    [("conv2d_u8s8", "avx512vnni"), ("conv2d_bf16", "avx512bf16"), ("conv2d_u8s8", "arm_dot")],
)
def test_weights_are_streamed_as_they_were_packed(sample: str, target: str) -> None:
    """Of one pixel, a matrix by a vector, each weight is used once: nothing but its load is in the call."""
    settings = {"H": "1", "W": "1", "C": "128", "K": "512", "R": "1", "S": "1"}
    pipeline = load_pipeline(SAMPLES / f"{sample}.hb", settings)
    found = automatic(pipeline, TARGETS[target], settings, False)
    assert found is not None
    split = split_constants(found.kernel)
    assert split is not None
    sizes = {n: const(int(settings.get(n, "1"))) for n in "HWCK"}
    body = simplify_stmt(substitute_stmt(split.rest.body, sizes))
    loaded = {n.buffer for n in nodes(body) if isinstance(n, ir.Load)}
    (weights,) = loaded & {a.name for a in split.packs[0].kept}
    (extent,) = next(a.extents for a in split.packs[0].kept if a.name == weights)
    size = const_value(simplify(substitute(extent, sizes)))
    assert isinstance(size, int) and 128 * 512 <= size < 128 * 512 * 1.25
    assert "dense" not in weights
    assert not any(isinstance(n, ir.Allocate) and n.memory is Memory.HEAP for n in nodes(body))


@pytest.mark.parametrize("settings", [{"R": "1", "S": "1"}, {"stride": "2", "H": "35", "W": "35"}])
def test_tiles_take_rows_of_an_image_without_padding_as_they_lie(settings: dict[str, str]) -> None:
    """Also the last ones, of fewer pixels or channels: their conditions say that no edge is met."""
    pipeline = load_pipeline(SAMPLES / "conv2d_u8s8.hb", settings)
    found = automatic(pipeline, TARGETS["amx"], settings, False)
    assert found is not None
    assert found.refused == ()
    assert "store_in(amx_tile)" in found.text and "padded" not in found.text
