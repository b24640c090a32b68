"""Products whose factors are copied in bulk, on the CPU: what lands where; each wait, fence, barrier and
turn is missed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from suite_tables import WHOLE
from warp_group_products import ORDERS, program
from warp_group_runs import compiled, each_is_missed, is_right

from hbc.codegen.build.nvcc import build_cuda

TABLE = [(t, n) for t in ("f16", "bf16") for n in (64, 128, 256)]
SOME = TABLE if WHOLE else [("bf16", 64), ("f16", 128)]
NEEDED = re.compile(
    r"__syncthreads\(\);|ptx_fence_proxy_async\(\);|ptx_signal_wait\([^;]*;|ptx_signal_expect\([^;]*;"
    r"|ptx_signal_begin\([^;]*;|ptx_bulk_copy\([^;]*;"
)
WRONG = (
    (r"(ptx_signal_wait\(&\w+\[[^]]*\], )([^;]*)\);", r"\1\2 + 1);", "the wait for another turn"),
    (r"(ptx_signal_expect\(&\w+\[[^]]*\], )(\d+)\);", r"\1\2 + 16);", "more bytes than come"),
    (r"(ptx_signal_expect\(&\w+\[[^]]*\], )(\d+)\);", r"\1\2 - 16);", "fewer bytes than come"),
    (r"(ptx_signal_begin\(&\w+\[e\], )1\);", r"\g<1>2);", "a thread that nobody waits for"),
)  # fmt: skip


@pytest.mark.parametrize(("t", "n"), SOME)
def test_right_in_every_order(t: str, n: int, tmp_path: Path) -> None:
    """Whole tiles and tails, for matrices by rows and by columns; and rows that are not aligned."""
    sizes = [{"M": 136, "N": n + 8, "K": 200}, {"M": 130, "N": n + 9, "K": 77}]
    assert is_right(*compiled(program(t, n, ORDERS, bulk=True)), sizes, tmp_path)


def changed(text: str) -> Iterator[tuple[str, str]]:
    """The text without each of these in the pipelined loop of the first kernel, or with each of these
    mistakes, and what is wrong."""
    begin = text.index("if (ptx_warp() == 0 && ptx_elected())")
    end = text.index("ptx_wgmma_wait<0>", begin)
    for m in NEEDED.finditer(text, begin, end):
        yield text[: m.start()] + text[m.end() :], m[0]
    for pattern, new, what in WRONG:
        for m in re.finditer(pattern, text[begin:end]):
            at = begin + m.start()
            yield text[:at] + m.expand(new) + text[begin + m.end() :], what


def test_each_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = program("f16", 64, ("ik kj",), stages=4, tail="guard", bulk=True)
    p, kernel, source = compiled(text)
    sizes = [{"M": 128, "N": 64, "K": 448}]
    assert is_right(p, kernel, source, sizes, tmp_path)
    mistakes = list(changed(source.text))
    words = {re.split(r"[(<]", what)[0] for _, what in mistakes}
    assert {"__syncthreads", "ptx_fence_proxy_async", "ptx_signal_wait", "ptx_bulk_copy"} <= words
    each_is_missed(p, kernel, source, mistakes, sizes, tmp_path, monkeypatch)


def test_the_host_chooses() -> None:
    """One kernel for arrays whose rows lie at multiples of 16 bytes, and those that threads copy for."""
    _, _, source = compiled(program("f16", 64, ("ik kj",), bulk=True))
    for kernel in ("k_C0", "k_C0_by_threads", "k_C0_any_strides"):
        assert re.search(rf"__launch_bounds__\(256\) {kernel}\(", source.text), kernel
    assert "A0_stride0 % 8 == 0" in source.text
    assert "CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, A0_map_extents" in source.text


@pytest.mark.usefixtures("nvcc")
def test_nvcc_makes_bulk_copies(tmp_path: Path) -> None:
    _, _, source = compiled(program("f16", 256, ("ik kj",), stages=4, bulk=True))
    used = build_cuda(source, tmp_path / "k.cubin", "cubin", ("sm_90",))
    assert {r.arch for r in used} == {"sm_90a"}
    assert all(r.spills == r.stack == 0 for r in used)
    build_cuda(source, tmp_path / "k.ptx", "ptx", ("sm_90",))
    ptx = (tmp_path / "k.ptx").read_text(encoding="utf-8")
    assert "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" in ptx
