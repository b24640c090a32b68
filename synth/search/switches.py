"""What of the search can be switched off, so that its worth can be measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Switches:
    """The tests of the paper (`pairs`, `copies`), those on classes of locations (`classes`, and the
    `crowds` they make), and how the search proceeds: `compose` holes whose cut says nothing, `joins`
    of several arguments of a fold, `merge` equal states."""

    classes: bool = True
    copies: bool = True
    pairs: bool = False
    crowds: bool = True
    compose: bool = True
    joins: bool = True
    merge: bool = True
