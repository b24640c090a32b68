"""An operation on x86 vector registers as a C function that works lane by lane on arrays."""

from __future__ import annotations

from collections.abc import Sequence

from hbc.ir.ground.record import record

C_LANES = {
    **{f"{s}{b}": f"{'u' if s == 'u' else ''}int{b}_t" for s in "iu" for b in (8, 16, 32, 64)},
    "f16": "uint16_t", "bf16": "uint16_t", "f32": "float", "f64": "double",
}  # fmt: skip


def lane_bits(element: str) -> int:
    return int(element.removeprefix("b")[1:])


def register_type(element: str, bits: int) -> str:
    """The C type of the register that so many bits of lanes are in, 128 at least."""
    kind = {"f32": "", "f64": "d", "bf16": "bh"}.get(element, "i")
    return f"__m{max(bits, 128)}{kind}"


def mask_type(lanes: int) -> str:
    return f"__mmask{max(lanes, 8)}"


@record
class Register:
    """A vector operand: the array of its lanes in the function's text, their type and number."""

    name: str
    element: str
    lanes: int

    @property
    def type(self) -> str:
        return register_type(self.element, self.lanes * lane_bits(self.element))


@record
class Operation:
    """`value` is lane i, of `lanes` of type `element`; `element` "mask" is a bit of a mask. `operands`:
    registers, or the C declarations of other parameters. `first`: a statement before. `effect`: it
    returns nothing, and `value` is a statement."""

    element: str
    lanes: int
    operands: Sequence[Register | str]
    value: str
    first: str = ""
    effect: bool = False


def function(name: str, o: Operation, masking: str = "") -> str:
    """The C function of an operation; with `masking`, lanes outside of a mask stay as in the operand
    `old` ("mask"), or as in the first one where the operation has three ("first"), or are 0 ("maskz").
    They are not worked out."""
    operands, live = list(o.operands), ""
    if masking:
        live = "k >> i & 1"
        kept = [Register("old", o.element, o.lanes)] if masking == "mask" and _keeps(o) else []
        place = 1 if o.effect or masking == "first" else 0
        operands[place:place] = [*kept, f"{mask_type(o.lanes)} k"]
    declared = ", ".join(x if isinstance(x, str) else f"{x.type} {x.name}_" for x in operands)
    lines = [line for x in operands if isinstance(x, Register) for line in _read(x)]
    lines += [f"    {o.first}"] if o.first else []
    loop = f"    for (int i = 0; i < {o.lanes}; ++i)"
    if o.effect:
        inner = (
            [f"        if ({live})", f"            {o.value}"] if live else [f"        {o.value}"]
        )
        return _text(f"void {name}({declared})", [*lines, loop, *inner])
    if o.element == "mask":
        t = mask_type(o.lanes)
        bit = f"(({live}) && ({o.value}))" if live else f"({o.value})"
        lines += [f"    {t} r = 0;", loop, f"        r |= ({t})(({t}){bit} << i);", "    return r;"]
        return _text(f"{t} {name}({declared})", lines)
    otherwise = {"mask": "old[i]", "first": "x[i]"}.get(masking, "0")
    value = f"{live} ? {o.value} : {otherwise}" if live else o.value
    t = register_type(o.element, o.lanes * lane_bits(o.element))
    lines += [
        f"    {C_LANES[o.element]} r[{o.lanes}];", loop, f"        r[i] = {value};",
        f"    {t} r_;", "    memset(&r_, 0, sizeof r_);", "    memcpy(&r_, r, sizeof r);",
        "    return r_;",
    ]  # fmt: skip
    return _text(f"{t} {name}({declared})", lines)


def _keeps(o: Operation) -> bool:
    """Whether a register is there whose lanes stay: not of comparisons and stores."""
    return not o.effect and o.element != "mask"


def _read(x: Register) -> list[str]:
    return [
        f"    {C_LANES[x.element]} {x.name}[{x.lanes}];",
        f"    memcpy({x.name}, &{x.name}_, sizeof {x.name});",
    ]


def _text(head: str, lines: Sequence[str]) -> str:
    return "\n".join([f"SOFT {head}", "{", *lines, "}", ""])
