"""What is measured of a machine, as automatic schedules weigh it."""

from __future__ import annotations

import pytest

from hbc.cli.instruction_set import instruction_set, instructions_of
from hbc.frontend.costs.dots import dots_of, worthwhile
from hbc.frontend.costs.machine import CACHES, FITTED, MEMORY, machine_of
from hbc.frontend.costs.machine_costs import Level, MachineCosts, with_costs
from hbc.frontend.costs.tile_blocks import XEON, TileCosts, tile_costs
from hbc.ir.lang.instruction import Cost
from hbc.ir.lang.target import TARGETS

ALL = instruction_set().instructions
AVX512 = TARGETS["avx512"]


def levels(noise: float) -> tuple[Level, ...]:
    return tuple(Level(x.name, x.bytes, x.loads * noise, x.stores * noise) for x in FITTED.values())


@pytest.mark.parametrize("noise", [0.85, 1.0, 1.15])
def test_on_the_fitted_processor_the_figures_are_the_fitted_ones(noise: float) -> None:
    """So that a measurement more or less makes no other schedule."""
    machine = machine_of(AVX512, MachineCosts("", (), (), levels(noise)), ALL)
    assert machine.caches == CACHES and machine.memory == MEMORY


def test_slower_caches_cost_more() -> None:
    machine = machine_of(AVX512, MachineCosts("", (), (), levels(0.5)), ALL)
    assert machine.caches == tuple((size, 2 * cycles) for size, cycles in CACHES)
    assert machine.memory == 2 * MEMORY
    assert machine.access_cycles(1e12) == 2 * MEMORY


def test_what_is_not_said_is_as_usual() -> None:
    costs = MachineCosts("", (), (), (Level("L2", 1 << 21, 31, 31),))
    machine, usual = machine_of(AVX512, costs, ALL), machine_of(AVX512)
    assert machine.caches[0] == usual.caches[0]
    assert machine.caches[1] == (2 * usual.caches[1][0], usual.caches[1][1])
    assert machine.multiply_adds == usual.multiply_adds


@pytest.mark.parametrize(("target", "rate"), [("avx512", 1.0), ("avx2", 2.0)])
def test_multiply_adds_are_those_of_the_width(target: str, rate: float) -> None:
    known = (("vfmadd231ps_zmm", Cost(4, 1.0)), ("vfmadd231ps_ymm", Cost(4, 2.0)))
    costs = MachineCosts("", (), known, levels(1.0))
    machine = machine_of(TARGETS[target], costs, with_costs(ALL, costs))
    assert machine.multiply_adds == rate


@pytest.mark.parametrize(("rate", "worth"), [(0.4, False), (0.5, True), (1.0, True)])
def test_dot_products_of_floats_are_to_be_no_slower_than_vectors(rate: float, worth: bool) -> None:
    target = TARGETS["avx512bf16"]
    known = (("vdpbf16ps_zmm", Cost(6, rate)), ("vfmadd231ps_zmm", Cost(4, 1.0)))
    costs = MachineCosts("", (), known)
    machine = machine_of(target, costs, with_costs(ALL, costs))
    dots = dots_of(with_costs(instructions_of(target), costs))
    assert bool(dots) and bool(worthwhile(dots, machine)) is worth


def test_as_they_are_described_all_are_worth_it() -> None:
    for target in TARGETS.values():
        if target.instruction_sets:
            dots = dots_of(instructions_of(target))
            assert worthwhile(dots, machine_of(target)) == dots


def test_tiles_go_by_what_was_measured() -> None:
    target = TARGETS["amx"]
    (dot, *_) = dots_of(instructions_of(target))
    assert tile_costs(machine_of(target), dot) == XEON
    costs = MachineCosts(
        "",
        (),
        (("tdpbusd", Cost(52, 1 / 32)),),
        (Level("L2", 1 << 20, 32, 32), Level("L3", 0, 8, 8)),
    )
    (dot, *_) = dots_of(with_costs([i for i in ALL if i.name == "tdpbusd"], costs))
    found = tile_costs(machine_of(target, costs, ALL), dot)
    assert found == TileCosts(2.0, XEON.first, (1 << 20) * 1280 / 2048, 32.0, 128.0)
