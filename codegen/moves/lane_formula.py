"""C formulas of the lane's number for given values: what a lane reads, and which lanes do something.

Tried from the simplest on, checked for every lane that matters; what no formula fits is a table or a mask.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Lanes = NDArray[np.bool_]

LANE = "lane"
DIGITS = (2, 3, 4, 5, 6, 7, 8, 16)
PROBES = 6  # lanes that most formulas are refused by
WIDEST = 64  # moduli that are tried


def formula(values: Numbers, cared: Lanes, lane: str = LANE) -> str | None:
    """An expression that gives `values[l]` in lane l, for all lanes cared about; None when none of the
    kinds tried does. Values are not negative."""
    key = tuple(int(v) if c else -1 for v, c in zip(values, cared, strict=True))
    fitted = _fitted(key)
    return None if fitted is None else fitted.replace(LANE, lane)


def condition(mask: Lanes, cared: Lanes, lane: str = LANE) -> str:
    """An expression that is true in the lanes of `mask` and false in the other lanes cared about."""
    key = tuple(int(m) if c else -1 for m, c in zip(mask, cared, strict=True))
    return _decided(key).replace(LANE, lane)


@lru_cache(maxsize=4096)
def _fitted(key: tuple[int, ...]) -> str | None:
    lanes = np.flatnonzero(np.array(key) >= 0)
    values = np.array(key, dtype=np.int64)[lanes]
    if lanes.size == 0 or (values == values[0]).all():
        return str(values[0]) if lanes.size else "0"
    if (expression := _affine(lanes, values)) is not None:
        return expression
    if (lanes ^ values == lanes[0] ^ values[0]).all():
        return f"{LANE} ^ {lanes[0] ^ values[0]}"
    count = len(key)
    if (expression := _fitted_in_groups(lanes, values, count)) is not None:
        return expression
    return _in_digits(lanes, values, count)


def _fitted_in_groups(lanes: Numbers, values: Numbers, count: int) -> str | None:
    inner = [d for d in _divisors(count) if 1 < d < count]
    for group in (count, *inner):
        if (expression := _in_groups(lanes, values, group, count)) is not None:
            return expression
    for group in reversed(inner):
        if (expression := _by_group(lanes, values, group, count)) is not None:
            return expression
    return None


def _by_group(lanes: Numbers, values: Numbers, group: int, count: int) -> str | None:
    """A formula of lane / group."""
    outer, first = np.unique(lanes // group, return_index=True)
    if (
        group == count
        or not (values == values[first][np.searchsorted(outer, lanes // group)]).all()
    ):
        return None
    key = np.full(count // group, -1)
    key[outer] = values[first]
    expression = _fitted(tuple(key.tolist()))
    return None if expression is None else _within(expression, f"{LANE} / {group}")


def _in_digits(lanes: Numbers, values: Numbers, count: int) -> str | None:
    """size * high + low, where both are formulas."""
    top = int(values.max())
    for size in dict.fromkeys((count, *DIGITS)):
        if size > top:
            continue
        high = _simply(lanes, values // size, count)
        low = None if high is None else _simply(lanes, values % size, count)
        if high is not None and low is not None:
            return f"{_times(size, high)} + {closed(low)}"
    return None


def _simply(lanes: Numbers, values: Numbers, count: int) -> str | None:
    if (values == values[0]).all():
        return str(values[0])
    expression = _affine(lanes, values)
    return expression if expression is not None else _fitted_in_groups(lanes, values, count)


def closed(text: str) -> str:
    """In parentheses where something binds less than a sum."""
    return f"({text})" if "&" in text or "^" in text else text


def _affine(lanes: Numbers, values: Numbers) -> str | None:
    """a * lane + b."""
    others = np.flatnonzero(lanes != lanes[0])
    if not others.size:
        return str(values[0]) if (values == values[0]).all() else None
    rise, run = values[others[0]] - values[0], lanes[others[0]] - lanes[0]
    if rise % run:
        return None
    slope = rise // run
    start = values[0] - slope * lanes[0]
    return _sum(slope, start) if (slope * lanes + start == values).all() else None


def _in_groups(lanes: Numbers, values: Numbers, group: int, count: int) -> str | None:
    """h * (lane / group) + (a * inner + inner / d + b) % m, with inner = lane % group."""
    inner, outer = lanes % group, lanes // group
    step = _step_of_groups(inner, outer, values)
    if step is None:
        return None
    rest = values - step * outer
    base = int(rest.min())
    text = LANE if group == count else f"{LANE} % {group}"
    prefix = [] if not step else [_times(abs(step), f"{LANE} / {group}")]
    if (expression := _affine(inner, rest)) is not None:
        return _added(step, prefix, [], _within(expression, text))
    for low in sorted({0, base}):
        start = [str(low)] if low else []
        least = int(rest.max()) - low + 1
        for modulus in range(least, min(WIDEST, max(count, least)) + 1):
            if (expression := _modular(inner, rest - low, modulus, group)) is not None:
                return _added(step, prefix, start, _within(expression, text))
    return None


def _added(step: int, groups: list[str], start: list[str], inner: str) -> str:
    """The sum of what is there; `groups` is subtracted if the step is negative."""
    parts = [*groups, *start] if step >= 0 else start
    text = " + ".join([*parts, closed(inner)]) if parts or groups else inner
    return f"{text} - {groups[0]}" if step < 0 else text


def _step_of_groups(inner: Numbers, outer: Numbers, values: Numbers) -> int | None:
    """By how much values grow from one group to the next; None where that differs."""
    step = 0
    for at in range(1, len(values)):
        same = np.flatnonzero((inner[:at] == inner[at]) & (outer[:at] != outer[at]))
        if same.size:
            rise, run = values[at] - values[same[0]], outer[at] - outer[same[0]]
            if rise % run:
                return None
            step = int(rise // run)
            break
    return step


def _modular(inner: Numbers, values: Numbers, modulus: int, group: int) -> str | None:
    """(a * inner + inner / d + b) % modulus."""
    factors = np.arange(modulus)[:, None]
    for divisor in (0, *(d for d in _divisors(group) if 1 < d < group)):
        extra = inner // divisor if divisor else np.zeros_like(inner)
        start = (values[0] - factors * inner[0] - extra[0]) % modulus
        probed = factors * inner[:PROBES] + extra[:PROBES] + start
        fits = (probed % modulus == values[:PROBES]).all(axis=1)
        if not fits.any():
            continue
        fits &= ((factors * inner + extra + start) % modulus == values).all(axis=1)
        if not fits.any():
            continue
        # The factor nearest to 0 reads best.
        options = np.flatnonzero(fits)
        factor = int(min(options, key=lambda a: min(int(a), modulus - int(a))))
        begin = int(start[factor, 0])
        power = modulus & (modulus - 1) == 0
        if power and modulus - factor < factor:
            factor -= modulus
        parts = _sum(factor, begin)
        if divisor:
            parts = f"{LANE} / {divisor}" if parts == "0" else f"{parts} + {LANE} / {divisor}"
        inside = f"({parts})" if " " in parts else parts
        return f"{inside} & {modulus - 1}" if power else f"{inside} % {modulus}"
    return None


def _sum(slope: int, start: int) -> str:
    """slope * lane + start, shortest."""
    if slope == 0:
        return str(start)
    term = _times(abs(slope), LANE)
    if slope < 0:
        return f"{start} - {term}" if start else f"-{term}"
    if start < 0:
        return f"{term} - {-start}"
    return f"{term} + {start}" if start else term


def _times(factor: int, text: str) -> str:
    if factor == 1:
        return text
    return f"{factor} * ({text})" if " " in text else f"{factor} * {text}"


def _within(text: str, inner: str) -> str:
    """The formula with another expression in place of the lane."""
    return text if inner == LANE else text.replace(LANE, f"({inner})")


def _divisors(number: int) -> list[int]:
    return [d for d in range(1, number + 1) if number % d == 0]


@lru_cache(maxsize=4096)
def _decided(key: tuple[int, ...]) -> str:
    """The first of the conditions below that agrees."""
    known = np.array(key)
    lanes = np.flatnonzero(known >= 0)
    wanted = known[lanes] == 1
    if wanted.all() or not wanted.any():
        return "true" if wanted.all() else "false"
    for text, holds in _conditions(len(key)):
        if (holds[lanes] == wanted).all():
            return text
    word = sum(1 << int(lane) for lane in np.flatnonzero(known == 1))
    return f"0x{word:0{len(key) // 4}x}{'u' if len(key) <= 32 else 'ull'} >> {LANE} & 1"


@lru_cache(maxsize=16)
def _conditions(count: int) -> list[tuple[str, Lanes]]:
    """Simple conditions on the number of one of `count` lanes, from the simplest on."""
    return list(_simple(count))


def _simple(count: int) -> Iterator[tuple[str, Lanes]]:
    lane = np.arange(count)
    for c in range(1, count):
        yield f"{LANE} < {c}", lane < c
        yield f"{LANE} >= {c}", lane >= c
    for c in range(count):
        yield f"{LANE} == {c}", lane == c
        yield f"{LANE} != {c}", lane != c
    for bit in (1 << b for b in range(count.bit_length())):
        yield f"{LANE} & {bit}", (lane & bit) != 0
        yield f"!({LANE} & {bit})", (lane & bit) == 0
    for m in range(2, count):
        for c in range(m):
            yield f"{LANE} % {m} == {c}", lane % m == c
            yield f"{LANE} % {m} != {c}", lane % m != c
            yield f"{LANE} % {m} < {c}", lane % m < c
            yield f"{LANE} % {m} >= {c}", lane % m >= c
    for low in range(count):
        for high in range(low + 2, count + 1):
            inside = (lane >= low) & (lane < high)
            yield f"{LANE} >= {low} && {LANE} < {high}", inside
            yield f"{LANE} < {low} || {LANE} >= {high}", ~inside
