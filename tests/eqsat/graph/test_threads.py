"""E-graphs, and the threads of who compiles."""

from __future__ import annotations

import gc
import sys
import threading
from typing import Any

import pytest
from sample_table import load

from hbc.cli.instruction_set import instructions_of
from hbc.cli.pipeline import choose_schedule, lower_to_kernel
from hbc.eqsat.inspecting.inspect import inspect
from hbc.ir.ground.diag import HbcError
from hbc.ir.lang.target import TARGETS

TARGET = TARGETS["avx512vnni"]


@pytest.mark.parametrize("what", ["chosen", "inspected", "refused"])
def test_e_graphs_are_dropped_where_they_were_made(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bindings refuse any other thread, and the garbage collector runs in each."""
    seen: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: seen.append(found.exc_value))
    p = load("conv1d_u8s8")
    gc.disable()
    try:
        if what == "inspected":
            kernel = lower_to_kernel(p, None, TARGETS["c"])
            assert inspect(kernel, instructions_of(TARGET), TARGET, {})
        elif what == "chosen":
            kernel = lower_to_kernel(p, choose_schedule(p, TARGET.name, None), TARGET)
            assert kernel.instructions
        else:
            p = load("conv2d")  # f32, which no tiles take
            with pytest.raises(HbcError):
                lower_to_kernel(p, choose_schedule(p, "amx", None), TARGETS["amx"])
        collector = threading.Thread(target=gc.collect)
        collector.start()
        collector.join()
    finally:
        gc.enable()
    assert not seen
