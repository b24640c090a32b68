"""Pins that a second run compiles nothing, and that a change of anything that decides the code does."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

import hbc
from hbc.cli import kept_kernels, prepare
from hbc.cli.commands.run import command as run
from hbc.cli.compiled import Chosen, Compiled
from hbc.cli.kept_kernels import choose_kept
from hbc.codegen.build import toolchain
from hbc.codegen.build.program import build_callable
from hbc.codegen.build.toolchain import Compiler, find_compiler
from hbc.codegen.cuda.source import CudaSource
from hbc.ir.ground.diag import Diagnostic, HbcError, Note, Severity
from hbc.ir.ground.record_json import to_json
from hbc.ir.host.cache_folder import VARIABLE

KERNEL = """import "part.hb"
param gain: f32 = 2
size N
input A: f32[N]
output B: f32[N]
B[i] = part(A[i]) * gain
schedule one for c { B.unroll(i, 2) }
schedule two for c { B.unroll(i, 4) }
example { N = 100 }
"""
PART = "def part(x) = x + 1\n"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were compiled since."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.hb").write_text(KERNEL)
    (tmp_path / "part.hb").write_text(PART)
    found: list[str] = []
    real = prepare.compile_chosen

    def counted(chosen: Chosen) -> Compiled:
        compiled = real(chosen)
        found.append(compiled.source.text)
        return compiled

    monkeypatch.setattr(prepare, "compile_chosen", counted)
    return found


def compiled(
    settings: dict[str, str] | None = None, target: str | None = "c", schedule: str | None = None,
    isa: tuple[Path, ...] = (), fallback: str = "error", fix_sizes: bool = False,
) -> Compiled:  # fmt: skip
    file = Path("k.hb")
    return choose_kept(file, None, settings or {}, target, schedule, isa, fallback, fix_sizes)[1]()


def told(one: Compiled) -> list[object]:
    """All that a compiled kernel says; sources are told apart by identity, and their texts are not."""
    chosen = one.chosen
    return [to_json(chosen.pipeline), chosen.target, chosen.schedule, chosen.fallback, one.source]


def test_the_same_is_compiled_once(made: list[str]) -> None:
    first, second = compiled(), compiled()
    assert len(made) == 1
    assert second.lowered is None  # it was read
    assert told(first) == told(second)
    assert first.kernel == second.kernel


@pytest.mark.parametrize("name", ["k.hb", "part.hb"])
def test_a_file_that_changes_is_compiled(made: list[str], name: str) -> None:
    compiled()
    file = Path(name)
    before = file.stat()
    file.write_text(file.read_text().replace("+ 1", "+ 3").replace("f32 = 2", "f32 = 4"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # of the same length and time
    compiled()
    assert len(made) == 2
    assert made[0] != made[1]
    compiled()
    assert len(made) == 2


def test_which_kernel_of_a_file_decides(made: list[str]) -> None:
    kernels = [
        f"kernel {n} {{\n{KERNEL.replace('* gain', f'* {n[1]} * gain')}}}\n" for n in ("k3", "k5")
    ]
    text = "".join(kernels).replace('import "part.hb"\n', "")
    Path("k.hb").write_text('import "part.hb"\n' + text)
    for name in ("k3", "k5", "k3", "k5"):
        found = choose_kept(Path("k.hb"), name, {}, "c", None)[1]()
        assert found.source.name == name
    assert len(made) == 2
    with pytest.raises(HbcError, match="has 2 kernels"):
        choose_kept(Path("k.hb"), None, {}, "c", None)


def test_an_import_that_is_gone_is_missed(made: list[str]) -> None:
    compiled()
    Path("part.hb").unlink()
    with pytest.raises(HbcError, match="cannot import"):
        compiled()


@pytest.mark.parametrize(
    "change",
    [
        {"settings": {"gain": "3"}},
        {"settings": {"N": "7"}, "fix_sizes": True},
        {"schedule": "two"},
        {"schedule": "none"},
        {"target": "avx2", "schedule": "one"},
        {"fallback": "scalar"},
    ],
    ids=str,
)
def test_what_is_asked_for_decides(made: list[str], change: dict[str, object]) -> None:
    compiled()
    changed = compiled(**change)  # type: ignore[arg-type]
    again = compiled(**change)  # type: ignore[arg-type]
    assert len(made) == 2
    assert told(changed) == told(again)


def test_descriptions_decide(made: list[str]) -> None:
    file = Path("own.hb")
    file.write_text("# none\n")
    compiled(isa=(file,))
    file.write_text("# nil!\n")
    compiled(isa=(file,))
    assert len(made) == 2


def test_the_folder_decides(
    made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    Path("k.hb").write_text(KERNEL)
    Path("part.hb").write_text(PART.replace("1", "5"))
    assert compiled().source.text == made[-1]
    assert len(made) == 2


@pytest.mark.parametrize(
    ("name", "other"),
    [("hbc_digest", lambda: "another hbc"), ("library_versions", lambda: ["another library"]),
     ("cpu_features", lambda: frozenset({"another_processor"})),
     ("own_digest", lambda: "another library of movements")],
)  # fmt: skip
def test_hbc_and_the_processor_decide(
    made: list[str], monkeypatch: pytest.MonkeyPatch, name: str, other: object
) -> None:
    compiled()
    monkeypatch.setattr(kept_kernels, name, other)
    compiled()
    assert len(made) == 2


def test_what_is_damaged_is_made_again(made: list[str], tmp_path: Path) -> None:
    good = compiled().source
    for file in (tmp_path / "cache").glob("kernel-*"):
        raw = bytearray(file.read_bytes())
        raw[-10] ^= 1
        file.write_bytes(raw)
    assert compiled().source == good
    assert len(made) == 2


@pytest.mark.parametrize("sample", ["cuda/gemm_f16.hb", "cuda/histogram.hb"])
def test_code_for_gpus_is_kept(made: list[str], sample: str) -> None:
    """With what a block has of shared memory, and where fragments were asked for."""
    text = (Path(__file__).resolve().parents[2] / "samples" / sample).read_text()
    Path("k.hb").write_text(text)
    first, second = (compiled(target="cuda") for _ in range(2))
    assert len(made) == 1
    assert told(first) == told(second)
    sources = [one.source for one in (first, second)]
    assert all(isinstance(s, CudaSource) for s in sources)
    assert repr(sources[0]) == repr(sources[1])


def test_what_was_said_is_said_again(
    made: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from hbc.cli.show.report import notice, show_diagnostics

    counted = prepare.compile_chosen

    def warned(chosen: Chosen) -> Compiled:
        span = chosen.pipeline.outputs[0].span
        notes = (Note("as here", span),)
        show_diagnostics([Diagnostic("mind this", span, "try", notes, Severity.WARNING)] * 2)
        notice("note: and that")
        return counted(chosen)

    monkeypatch.setattr(prepare, "compile_chosen", warned)
    said = []
    for _ in range(2):
        compiled()
        said.append(capsys.readouterr().err)
    assert len(made) == 1
    assert said[0].count("k.hb:5:8: warning: mind this") == 2
    assert said[0].endswith("note: and that\n")
    assert said[0] == said[1]


@pytest.mark.parametrize("schedule", [None, "auto"])
def test_a_schedule_that_hbc_makes_is_kept(
    made: list[str], capsys: pytest.CaptureFixture[str], schedule: str | None
) -> None:
    """What README promises: a second run compiles nothing, also without a schedule in the file."""
    if schedule is None:
        Path("k.hb").write_text(KERNEL.split("schedule")[0])
    first = compiled(schedule=schedule)
    said = capsys.readouterr().err
    second = compiled(schedule=schedule)
    assert said.startswith("note: schedule auto for `c`: ")
    assert capsys.readouterr().err == said
    assert len(made) == 1
    assert told(first) == told(second)
    assert first.kernel == second.kernel
    assert second.chosen.schedule_name == "auto"


def test_python_uses_the_same(made: list[str]) -> None:
    first = hbc.compile("k.hb", target="c", N=8)
    second = hbc.compile("k.hb", target="c", N=8)
    assert len(made) == 1
    assert (first.source, first.header, first.loops) == (second.source, second.header, second.loops)


@pytest.fixture
def builds(made: list[str], monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Where a C compiler has made a library since."""
    found: list[Path] = []
    real = toolchain.build

    def counted(*given: object, **named: object) -> Path:
        found.append(real(*given, **named))  # type: ignore[arg-type]
        return found[-1]

    monkeypatch.setattr(toolchain, "build", counted)
    return found


def test_a_library_is_built_once(builds: list[Path], tmp_path: Path) -> None:
    one = compiled()
    paths = []
    for name in ("1", "2"):
        folder = tmp_path / name
        folder.mkdir()
        paths.append(build_callable(one.source, one.chosen.target, folder))
    assert len(builds) == 1
    assert isinstance(paths[0], Path) and isinstance(paths[1], Path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_compilers_and_flags_decide_a_library(
    builds: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, usual = compiled(), find_compiler()
    script = tmp_path / "cc"
    script.write_text(f'#!/bin/sh\nexec {" ".join(usual.command)} "$@"\n')
    script.chmod(stat.S_IRWXU)
    wrapped = Compiler((str(script),), usual.kind, usual.version)
    newer = Compiler(usual.command, usual.kind, usual.version + ".1")
    for n, compiler in enumerate((usual, newer, wrapped)):
        build_callable(one.source, one.chosen.target, tmp_path, compiler=compiler)
        assert len(builds) == n + 1
    script.write_text(script.read_text() + "# another file of the same name\n")
    build_callable(one.source, one.chosen.target, tmp_path, compiler=wrapped)
    assert len(builds) == 4
    monkeypatch.setattr(toolchain, "FLAGS", (*toolchain.FLAGS, "-g"))
    build_callable(one.source, one.chosen.target, tmp_path, compiler=usual)
    assert len(builds) == 5


def test_a_run_without_a_folder_for_the_cache(made: list[str], tmp_path: Path) -> None:
    from click.testing import CliRunner

    (tmp_path / "cache").write_text("a file is in the way")
    for n in range(2):
        result = CliRunner().invoke(run, ["k.hb", "--target", "c"])
        assert result.exit_code == 0, result.output
        assert len(made) == n + 1
