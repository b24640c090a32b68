"""What a kernel says of itself, and how `hbc.compile` takes files, texts and mistakes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hbc

ROOT = Path(__file__).resolve().parents[3]
TEXT = "size N\ninput A: f32[N]\noutput O: f32[N]\nO[i] = A[i] * 3\n"


def test_a_file_and_its_text_are_the_same_kernel(tmp_path: Path) -> None:
    path = tmp_path / "triple.hb"
    path.write_text(TEXT)
    for given in (path, str(path), TEXT):
        kernel = hbc.compile(given, target="c")
        assert np.array_equal(kernel(np.arange(5, dtype="f4")), np.arange(5, dtype="f4") * 3)
    assert kernel.name == "kernel"
    assert hbc.compile(path, target="c").name == "triple"


def test_what_it_is_made_of() -> None:
    kernel = hbc.compile(ROOT / "samples" / "gemm_f32.hb", target="c", schedule="none")
    assert (kernel.inputs, kernel.outputs) == (("A", "B"), ("C",))
    assert (kernel.target, kernel.schedule) == ("c", "none")
    assert "int gemm_f32(int64_t M, int64_t N, int64_t K," in kernel.header
    assert '#include "gemm_f32.h"' in kernel.source
    assert "compute C (output)" in kernel.loops
    assert "no tensor instructions" in kernel.explain()
    assert repr(kernel) == "<hbc.Kernel gemm_f32(A, B) -> C for c, schedule none>"


def test_in_a_notebook_text_is_escaped() -> None:
    kernel = hbc.compile(TEXT.replace("* 3", "* select(A[i] < 1, 2, 3)"), target="c")
    page = kernel._repr_html_()
    assert "<code>f32[N]</code>" in page and "&lt;" in page
    assert page.count("<pre>") == page.count("</pre>") == 2


def test_in_a_notebook_loops_have_costs_and_a_roof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """N loads and stores of 4 bytes: two loads or one store in a cycle, so that stores bound it."""
    from hbc.cli.page import roof
    from hbc.cli.roof.roofs import Roofs

    monkeypatch.setattr(roof, "kept_roofs", lambda threads: None)
    kernel = hbc.compile(TEXT + "example { N = 1000 }\n", target="c", schedule="none")
    page = kernel._repr_html_()
    assert "<p>At N = 1000:</p>" in page
    row = "<tr><td><code>i in N</code></td><td>1 k</td><td>1 k</td><td>8 k</td><td>stores</td></tr>"
    assert row in page, page
    assert "roof is not measured yet" in page
    roofs = Roofs(1, {"f32": 1e9}, {"DRAM": 1e9}, {})
    monkeypatch.setattr(roof, "kept_roofs", lambda threads: roofs)
    assert "Moving bytes (DRAM) is the limit: on one thread" in kernel._repr_html_()
    assert "no example with sizes" in hbc.compile(TEXT, target="c")._repr_html_()


def test_verify_and_bench() -> None:
    kernel = hbc.compile(TEXT, target="c")
    found = kernel.verify(trials=2)
    assert found.trials >= 2 and found.max_error_over_bound <= 1
    bench = kernel.bench(np.ones(1000, "f4"), seconds=0.01)
    assert bench.sizes == {"N": 1000} and bench.calls >= 7
    assert 0 < bench.best <= bench.seconds
    assert bench.gbytes_per_s == pytest.approx(8000 / bench.seconds / 1e9)
    assert "roof" in str(bench)


@pytest.mark.parametrize(
    ("text", "options", "kind", "said"),
    [
        (TEXT.replace("A[i]", "B[i]"), {}, hbc.HbcError, "<kernel>:4:8: error: unknown Func or input `B`"),
        ("missing.hb", {}, hbc.HbcError, "cannot read `missing.hb`"),
        ("B[i] = A[i]", {}, hbc.UsageError, "there is no file `B[i] = A[i]`"),
        ("", {}, hbc.UsageError, "there is no file ``"),
        (TEXT, {"target": "avx5"}, hbc.UsageError, "there is no target `avx5`"),
        (TEXT, {"schedule": "fast"}, hbc.UsageError, "no schedule `fast`"),
        (TEXT, {"threads": 0}, hbc.UsageError, "at least one thread"),
        (TEXT, {"N": [1]}, hbc.UsageError, "`N` is of type `list`"),
        (TEXT, {"M": 4}, hbc.UsageError, "error: M: the file has no such size, param or type"),
    ],
)  # fmt: skip
def test_mistakes_are_exceptions(
    text: str, options: dict[str, object], kind: type[hbc.HbcError], said: str
) -> None:
    with pytest.raises(kind) as caught:
        hbc.compile(text, **options)  # type: ignore[arg-type]
    assert said in str(caught.value)


def test_code_for_another_machine_is_made_but_not_called() -> None:
    kernel = hbc.compile(TEXT, target="arm_dot")
    if "arm_neon.h" in kernel.source and os.uname().machine != "aarch64":
        with pytest.raises(hbc.ToolError, match="does not run in this process"):
            kernel(np.ones(4, "f4"))


def test_without_a_compiler_the_call_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = hbc.compile(TEXT.replace("* 3", "* 5"), target="c")
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(hbc.ToolError, match="the C compiler `no-such-compiler`"):
        kernel(np.ones(4, "f4"))


def test_importing_hbc_imports_nothing_else() -> None:
    program = (
        "import sys, hbc; late = [m for m in ('numpy', 'lark', 'click', 'hbc.ir') if m in sys.modules];"
        "assert not late, late; assert 'compile' in dir(hbc); hbc.HbcError; hbc.__version__"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_python_m_hbc() -> None:
    command = [sys.executable, "-m", "hbc", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("hbc ")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute `compil`"):
        _ = hbc.compil
