"""Every barrier says which accesses it stands between: those that race without it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from block_runs import Touch, changed_barrier, races
from click.testing import CliRunner
from gpu_kernels import FOLDER, SIZES, lowered, schedules

from hbc.cli.commands.compile import command
from hbc.codegen.threads.conflicts import MANY, SyncScope
from hbc.codegen.threads.reasons import reasons
from hbc.ir.lang.nodes import Barrier, Block
from hbc.ir.lang.read import read_kernel
from hbc.ir.lang.show import show_kernel
from hbc.ir.lang.walk import statements

# Not where threads read and write as the data says, nor what warps do together.
LEFT_OUT = ("histogram", "row_products", "row_reductions")
SCHEDULES = [(name, s) for name, s in schedules() if name not in LEFT_OUT]


@pytest.mark.parametrize(("name", "schedule"), SCHEDULES)
def test_names_what_races_without_it(name: str, schedule: str | None) -> None:
    kernel = lowered(name, schedule)
    found = [x for x in statements(kernel.body) if isinstance(x, Barrier)]
    for n, barrier in enumerate(found):
        without = changed_barrier(kernel, n, Block(()))
        for first, second in races(without, SIZES[name][-1]):
            if "have landed" in barrier.note:  # put where copies run ahead
                assert f"`{first.buffer}`" in barrier.note
            else:
                assert said(first, second) in barrier.note


def said(first: Touch, second: Touch) -> str:
    """The beginning of the reason, up to where the source or the iteration is named."""
    assert first.buffer == second.buffer
    done = "updated" if first.atomic is not None else "stored" if first.stores else "read"
    return f"`{first.buffer}` {done} in line"


def test_lines_and_lanes() -> None:
    (barrier,) = (x for x in statements(lowered("mirror", "lanes").body) if isinstance(x, Barrier))
    assert barrier.note == "`t` stored in line 5, then read in line 6 by another lane"


def test_iterations() -> None:
    notes = [x.note for x in statements(lowered("ring", "planes").body) if isinstance(x, Barrier)]
    assert notes[:2] == [
        "`s` read in line 8 in the last iteration of `zi`, then stored in line 7 by another warp",
        "`s` stored in line 7, then read in line 8 by another warp",
    ]


@pytest.mark.parametrize(
    ("count", "when"),
    [
        (1, "the last"),
        (2, "the 2nd last"),
        (3, "the 3rd last"),
        (4, "the 4th last"),
        (MANY, "an earlier"),
    ],
)
def test_iterations_farther_back(count: int, when: str) -> None:
    access: Any = SimpleNamespace(buffer="s", atomic=None, stores=True, span=None)
    before: Any = SimpleNamespace(access=access, back=(("z", count),))
    said = reasons([(before, access, SyncScope.BLOCK)])
    assert said == f"`s` stored in {when} iteration of `z`, then stored by another warp"


def test_text_is_read_again() -> None:
    text = show_kernel(lowered("mirror", "lanes"))
    again = read_kernel(text)
    assert [x.note for x in statements(again.body) if isinstance(x, Barrier)] != [""]
    assert show_kernel(again) == text


def test_dump() -> None:
    arguments = [str(FOLDER / "mirror.hb"), "--target", "cuda", "--dump-after", "barriers"]
    answer = CliRunner().invoke(command, arguments)
    assert answer.exit_code == 0
    assert (
        'barrier warp "`t` stored in line 5, then read in line 6 by another lane"' in answer.stdout
    )
