"""Atomic updates in device code: CUDA's functions, or compare and swap where it has none.

atomicAdd(&s[i], value);
atomic_max_f32(&s[i], value);       // of a loop around atomicCAS
warp_add_f32(&s[0], value);         // the sum of a warp's lanes, by one of them
"""

from __future__ import annotations

from dataclasses import replace
from string import Template

from hbc.codegen.text.names import Binding, Scope
from hbc.codegen.text.scalar import element, scalar
from hbc.codegen.text.spelling import c_type, constant
from hbc.codegen.text.unit import LOGIC_AND, LOGIC_OR, Unit
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.identity import identity_of
from hbc.ir.lang.launches import WARP
from hbc.ir.lang.types import BF16, F16, F32, F64, I32, I64, U32, U64, DType, Memory
from hbc.ir.passes.halves import widen_halves

_WORDS = {
    ir.Op.ADD: "add", ir.Op.MUL: "mul", ir.Op.MIN: "min", ir.Op.MAX: "max", ir.Op.AND: "and", ir.Op.OR: "or",
    ir.Op.XOR: "xor",
}  # fmt: skip
_CALLS = {
    ir.Op.ADD: "atomicAdd", ir.Op.MIN: "atomicMin", ir.Op.MAX: "atomicMax", ir.Op.AND: "atomicAnd",
    ir.Op.OR: "atomicOr", ir.Op.XOR: "atomicXor",
}  # fmt: skip
# By element: the operations that CUDA has for it, and its type there where that is another than C's.
_SUMS, _ALL = frozenset({ir.Op.ADD}), frozenset(_CALLS)
_HAS = {
    F32: (_SUMS, ""), F64: (_SUMS, ""), I32: (_ALL, ""), U32: (_ALL, ""),
    F16: (_SUMS, "__half"), BF16: (_SUMS, "__nv_bfloat16"),
    I64: (_ALL, "long long"), U64: (_ALL, "unsigned long long"),
}  # fmt: skip
_AS_HALF = {F16: "__ushort_as_half", BF16: "__ushort_as_bfloat16"}
_SIGNLESS = (
    ir.Op.ADD,
    ir.Op.AND,
    ir.Op.OR,
    ir.Op.XOR,
)  # which CUDA has for 64 bits without a sign alone
# What is compared and swapped, by bits.
_SWAPPED = {16: "unsigned short", 32: "unsigned", 64: "unsigned long long"}

_SWAP = """\
/* memory = memory $word value, whatever other threads do meanwhile. */
static __device__ inline void $name($T *at, $T value)
{
    $W *const word = reinterpret_cast<$W *>(at);
    $W bits = atomicCAS(word, ($W)0, ($W)0);
    for (;;) {
        $T seen;
        memcpy(&seen, &bits, sizeof seen);
        const $T combined = $combined;
        $W wanted;
        memcpy(&wanted, &combined, sizeof wanted);
        const $W found = wanted == bits ? bits : atomicCAS(word, bits, wanted);
        if (found == bits)
            return;
        bits = found;
    }
}
"""
_WARP = """\
/* As atomically by each lane of the warp, which all call this with the same place. */
static __device__ inline void $name($T *at, $T value)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        const $T seen = __shfl_down_sync(0xffffffffu, value, distance);
        value = $combined;
    }
    if (threadIdx.x % 32 == 0)
        $update
}
"""
_GROUP = """\
/* What so many neighbouring lanes of the warp come to, for each of them. */
template <int LANES>
static __device__ inline $T $name($T value)
{
    for (int distance = 1; distance < LANES; distance *= 2) {
        const $T seen = __shfl_xor_sync(0xffffffffu, value, distance);
        value = $combined;
    }
    return value;
}
"""


def atomic_statement(s: ir.Store, op: ir.Op, unit: Unit) -> None:
    """Prints the update. A warp's is done by all lanes: those of which the mask does not hold add what
    changes nothing."""
    t = s.value.type.element
    value = scalar(s.value, unit).text
    place = f"&{element(s.buffer, s.index, unit)}"
    if 0 < s.warp < WARP:
        _of_group(s, op, value, unit)
        return
    if s.mask is None:
        unit.out.line(
            _warp(op, t, place, value, unit) if s.warp else _one(op, t, place, value, unit)
        )
        return
    condition = scalar(s.mask, unit)
    if s.warp:
        nothing = constant(identity_of(op, t).value, t)
        value = f"{condition.at(LOGIC_OR)} ? {scalar(s.value, unit).at(LOGIC_OR)} : {nothing}"
        unit.out.line(_warp(op, t, place, value, unit))
        return
    unit.out.line(f"if ({condition})")
    unit.out.depth += 1
    unit.out.line(_one(op, t, place, value, unit))
    unit.out.depth -= 1


def _of_group(s: ir.Store, op: ir.Op, value: str, unit: Unit) -> None:
    """Prints the update of an element that a group of lanes has for itself, by the first of them."""
    t = s.value.type.element
    name = f"lanes_{_WORDS[op]}_{t}"
    text = Template(_GROUP).substitute(name=name, T=c_type(t), combined=_combined(op, t, unit))
    together = unit.scope.fresh("together")
    function = unit.prelude.add(name, text)
    unit.out.line(f"const {c_type(t)} {together} = {function}<{s.warp}>({value});")
    unit.scope.push()
    unit.scope.bind(together, Binding(together))
    old = ir.Load(s.buffer, s.index, t(1))
    new = scalar(widen_halves(ir.Binary(op, old, ir.Var(together, t(1)))), unit)
    own = unit.buffers[s.buffer].memory is Memory.STACK  # each lane has a copy
    conditions = [] if own else [f"lane % {s.warp} == 0"]
    if s.mask is not None:
        mask = scalar(s.mask, unit)
        conditions.append(mask.at(LOGIC_AND) if conditions else mask.text)
    if conditions:
        unit.out.line(f"if ({' && '.join(conditions)})")
    indent = "    " if conditions else ""
    unit.out.line(f"{indent}{element(s.buffer, s.index, unit)} = {new};")
    unit.scope.pop()


def _one(op: ir.Op, t: DType, place: str, value: str, unit: Unit) -> str:
    """The statement that one thread does."""
    has, own = _HAS.get(t, (frozenset(), ""))
    if op not in has:
        return f"{_swapping(op, t, unit)}({place}, {value});"
    if not own:
        return f"{_CALLS[op]}({place}, {value});"
    if t in _AS_HALF:
        return f"{_CALLS[op]}(reinterpret_cast<{own} *>({place}), {_AS_HALF[t]}({value}));"
    own = f"unsigned {own}" if op in _SIGNLESS else own
    return f"{_CALLS[op]}(reinterpret_cast<{own} *>({place}), ({own})({value}));"


def _swapping(op: ir.Op, t: DType, unit: Unit) -> str:
    """The function that tries until nobody comes between."""
    name = f"atomic_{_WORDS[op]}_{t}"
    text = Template(_SWAP).substitute(
        name=name, word=_WORDS[op], T=c_type(t), W=_SWAPPED[t.bits], combined=_combined(op, t, unit)
    )
    return unit.prelude.add(name, text)


def _warp(op: ir.Op, t: DType, place: str, value: str, unit: Unit) -> str:
    name = f"warp_{_WORDS[op]}_{t}"
    text = Template(_WARP).substitute(
        name=name,
        T=c_type(t),
        combined=_combined(op, t, unit),
        update=_one(op, t, "at", "value", unit),
    )
    return f"{unit.prelude.add(name, text)}({place}, {value});"


def _combined(op: ir.Op, t: DType, unit: Unit) -> str:
    """What is there and what is added to it, in a function of their own."""
    alone = replace(unit, scope=Scope(), index="int64_t")
    for name in ("seen", "value"):
        alone.scope.declare(name)
    pair = ir.Binary(op, ir.Var("seen", t(1)), ir.Var("value", t(1)))
    return scalar(widen_halves(pair), alone).text
