"""Pins whose costs automatic schedules go by: of the machine that is asked for, and of none otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hbc.cli import asked_machine
from hbc.cli.asked_machine import asked_costs, costs_in, costs_text, keep_costs, tuning_costs
from hbc.cli.compiled import Chosen
from hbc.cli.main import exit_code_of
from hbc.cli.prepare import choose, compile_chosen
from hbc.frontend.costs.machine_costs import Level, MachineCosts
from hbc.ir.ground.diag import UsageError
from hbc.ir.lang.instruction import Cost

SAMPLES = Path(__file__).parents[2] / "samples"
AVX512 = ("avx2", "fma", "f16c", "bmi2", "avx512f", "avx512bw", "avx512dq", "avx512vl")
FEATURES = (*AVX512, "avx512_vnni", "avx512_bf16")
ChosenBy = Callable[..., Chosen]
LAYER = {"C": "160", "H": "9", "W": "9", "K": "224", "R": "3", "S": "3", "stride": "1"}


def machine(
    per_cycle: dict[str, float],
    features: tuple[str, ...] = FEATURES,
    levels: tuple[Level, ...] = (),
) -> MachineCosts:
    costs = tuple((name, Cost(4.0, rate)) for name, rate in per_cycle.items())
    return MachineCosts("a made-up one", features, costs, levels)


@pytest.fixture
def chosen_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ChosenBy:
    """What `auto` chooses with these costs."""

    def chosen(
        costs: MachineCosts, kernel: str, target: str | None = None, settings: dict[str, str] | None = None
    ) -> Chosen:  # fmt: skip
        file = tmp_path / "machine.json"
        file.write_text(costs_text(costs), encoding="utf-8")
        monkeypatch.setenv("HBC_MACHINE", str(file))
        return choose(SAMPLES / kernel, settings or {}, target, "auto")

    return chosen


# As on one processor: two dot products begin in a cycle where the description says one.
@pytest.mark.parametrize(
    ("rate", "block"), [(1.0, "O in blocks of 7 x 32"), (2.0, "O in blocks of 7 x 48")]
)
def test_a_block_follows_the_rate(chosen_by: ChosenBy, rate: float, block: str) -> None:
    found = chosen_by(machine({"vpdpbusd_zmm": rate}), "conv2d_u8s8.hb", "avx512vnni", LAYER)
    assert found.made is not None and found.made.about.startswith(block)
    assert [i.name for i in found.made.kernel.instructions] == ["vpdpbusd_zmm"]


@pytest.mark.parametrize("target", [None, "avx512bf16"])
@pytest.mark.parametrize("rate", [1.0, 0.25])
def test_an_instruction_that_is_slower_than_vectors_is_not_chosen(
    chosen_by: ChosenBy, rate: float, target: str | None
) -> None:
    """Of bf16, as on processors whose dot products are no faster than twice the multiply-adds of f32."""
    costs = machine({"vdpbf16ps_zmm": rate, "vfmadd231ps_zmm": 1.0})
    found = chosen_by(costs, "gemm_bf16.hb", target)
    text = compile_chosen(found).source.text
    if rate == 1.0:
        assert found.target.name == "avx512bf16" and "dpbf16_ps" in text
        return
    assert found.target.name == (target or "avx512")
    assert "dpbf16" not in text and "_mm512_fmadd_ps" in text


def test_the_targets_are_those_of_the_machine(chosen_by: ChosenBy) -> None:
    """Whatever this one runs."""
    assert chosen_by(machine({}), "gemm_u8s8.hb").target.name == "avx512vnni"
    assert chosen_by(machine({}, AVX512), "gemm_u8s8.hb").target.name == "avx512"
    tiles = (*FEATURES, "amx_tile", "amx_int8", "amx_bf16")
    assert chosen_by(machine({}, tiles), "gemm_u8s8.hb").target.name == "amx"
    assert (
        chosen_by(machine({}, ("avx2", "fma", "f16c", "bmi2")), "gemm_f32.hb").target.name == "avx2"
    )


def test_a_xeon_with_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its file: bf16 by tiles, and without them by vectors of f32, since its dot products are half as
    fast; the tiles are those of the model, which was fitted to such a processor."""
    monkeypatch.setenv("HBC_MACHINE", str(SAMPLES / "bench" / "machines" / "xeon_amx.json"))
    gemm, layer = SAMPLES / "gemm_bf16.hb", SAMPLES / "conv2d_u8s8.hb"
    assert choose(gemm, {}, None, "auto").target.name == "amx"
    assert "dpbf16" not in compile_chosen(choose(gemm, {}, "avx512bf16", "auto")).source.text
    texts = [choose(layer, LAYER, "amx", "auto").made]
    monkeypatch.setenv("HBC_MACHINE", "none")
    texts.append(choose(layer, LAYER, "amx", "auto").made)
    assert texts[0] is not None and texts[1] is not None and texts[0].text == texts[1].text
    assert "dpbf16" in compile_chosen(choose(gemm, {}, "avx512bf16", "auto")).source.text


def test_costs_of_memory_move_stages(chosen_by: ChosenBy) -> None:
    """Where reading is dear, less is kept in memory."""
    sizes = {"L1": 1 << 15, "L2": 1 << 20, "L3": 1 << 25, "DRAM": 0}
    made = []
    for rates in ((64.0, 64.0, 64.0, 64.0), (64.0, 4.0, 0.5, 0.1)):
        levels = tuple(
            Level(name, size, rate, rate)
            for (name, size), rate in zip(sizes.items(), rates, strict=True)
        )
        made.append(chosen_by(machine({}, FEATURES, levels), "denoise.hb", "avx512").made)
    assert made[0] is not None and made[1] is not None and made[0].text != made[1].text


def test_the_line_says_whose_costs(chosen_by: ChosenBy, capsys: pytest.CaptureFixture[str]) -> None:
    chosen_by(machine({}), "gemm_f32.hb", "avx512")
    assert "schedule auto for `avx512` by what a made-up one costs: C in" in capsys.readouterr().err


def test_without_being_asked_for_nothing_that_was_measured_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HBC_CACHE", str(tmp_path))
    monkeypatch.delenv("HBC_MACHINE")
    assert asked_costs() is None and tuning_costs() is None
    slow = machine({"vdpbf16ps_zmm": 0.25, "vfmadd231ps_zmm": 1.0})
    keep_costs(slow)
    assert asked_costs() is None
    assert tuning_costs() == slow  # it measures here anyway
    inspect = ["inspect", str(SAMPLES / "gemm_bf16.hb"), "--target", "avx512bf16"]
    assert exit_code_of(inspect) == 0
    usual = capsys.readouterr().out
    assert exit_code_of([*inspect, "--machine", "here"]) == 0
    measured = capsys.readouterr().out
    assert "by what a made-up one costs" in measured and "by what" not in usual
    monkeypatch.setenv("HBC_MACHINE", "here")
    assert asked_costs() == slow
    assert exit_code_of(inspect) == 0
    assert capsys.readouterr().out == measured
    assert exit_code_of([*inspect, "--machine", "none"]) == 0
    assert capsys.readouterr().out == usual


def test_a_kernel_that_was_kept_is_another_with_other_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HBC_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "machine.json"
    file.write_text(costs_text(machine({"vpdpbusd_zmm": 2.0})), encoding="utf-8")
    kernel = [
        str(SAMPLES / "conv2d_u8s8.hb"),
        *(f"{name}={value}" for name, value in LAYER.items()),
    ]
    texts = []
    for name in ("none", str(file), "none"):
        compile_it = ["compile", *kernel, "--target", "avx512vnni", "--schedule", "auto", "-o"]
        assert exit_code_of([*compile_it, str(tmp_path), "--machine", name]) == 0
        texts.append((tmp_path / "conv2d_u8s8.c").read_text())
    assert texts[0] == texts[2] != texts[1]


def test_here_wants_to_be_measured_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HBC_CACHE", str(tmp_path))
    assert exit_code_of(["inspect", str(SAMPLES / "gemm_f32.hb"), "--machine", "here"]) == 2
    assert "hint: `hbc machine` measures it" in capsys.readouterr().err


GOOD = json.loads(
    costs_text(machine({"vpdpbusd_zmm": 1.0}, levels=(Level("L1", 1 << 15, 64, 32),)))
)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"hbc_machine": 0}, '`"hbc_machine": 1` is missing'),
        ({"features": "avx2"}, "`features` is no list of names"),
        ({"instructions": []}, "`instructions` has no names"),
        ({"instructions": {"x": 1}}, "`instructions.x.latency` is no number above 0"),
        ({"instructions": {"x": {"latency": 4, "per_cycle": 0}}}, "`instructions.x.per_cycle` is no"),
        ({"instructions": {"x": {"latency": True, "per_cycle": 1}}}, "`instructions.x.latency` is no"),
        ({"memory": {"L1": {"bytes": -1, "loads": 1, "stores": 1}}}, "`memory.L1.bytes` is no number"),
        ({"memory": {"L1": {"bytes": 1, "loads": 1e99, "stores": 1}}}, "`memory.L1.loads` is no number"),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_is_told(
    change: dict[str, object], wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "m.json"
    file.write_text(json.dumps({**GOOD, **change}))
    assert exit_code_of(["inspect", str(SAMPLES / "gemm_f32.hb"), "--machine", str(file)]) == 2
    said = capsys.readouterr().err
    assert "is no machine file: " in said and wrong in said and "hbc machine -o FILE" in said


@pytest.mark.parametrize("text", ["", "[]", "{", "\x00", "[" * 100_000, '{"hbc_machine": NaN}'])
def test_what_is_no_file_of_ours_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        costs_in(text)


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the machine file"):
        asked_machine.read_costs(tmp_path / "none.json")


def test_a_damaged_cache_is_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HBC_CACHE", str(tmp_path))
    keep_costs(machine({}))
    (file,) = tmp_path.glob("machine-*.json")
    file.write_bytes(file.read_bytes()[:-3])
    assert asked_machine.kept_costs() is None
