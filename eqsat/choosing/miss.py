"""What keeps the instructions from a statement, and what is said where it is the same."""

from __future__ import annotations

from hbc.ir.ground.record import record

NO_SHAPE = "its loops do not make rows, columns and a sum"
APART = "keep the sums in `store_in(registers)`, and vectorize only one of their loops"
"""What works for every sum that no tile instruction does."""


@record
class Miss:
    """`nearest` is the name of an instruction, "" where there is none to compare with. `condition`
    says what is otherwise, with its values; `edit` what to write instead. `is_condition`: it is about
    what follows `where`."""

    nearest: str
    condition: str
    edit: str
    is_condition: bool = False
