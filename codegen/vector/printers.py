"""The printers of a machine, from its tables."""

from __future__ import annotations

from hbc.codegen.text.unit import Printers
from hbc.codegen.vector.expression import declare, vector
from hbc.codegen.vector.load import load
from hbc.codegen.vector.machine import Machine
from hbc.codegen.vector.store import reduce_lanes, store_vector


def printers(machine: Machine) -> Printers:
    """What prints the vectors of a machine."""
    registers = machine.registers
    return Printers(vector, load, reduce_lanes, declare, store_vector, registers, machine=machine)
