"""Counts the instructions of a kernel's main loop in what `nvdisasm -c` prints."""

import re
from dataclasses import dataclass
from itertools import pairwise

_SECTION = re.compile(r"\s*\.section\s+\.text\.(\w+)")
_LABEL = re.compile(r"\s*(\.L_x_\d+):")
_INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]+\*/\s+(@!?U?P\w+\s+)?([A-Z][\w.]*)\s*(.*?);")
_TO = re.compile(r"`\((\.L_x_\d+)\)")
# Multiply-adds that an instruction does for a warp. Of a product apart from its sum, FMUL counts.
_SUMS = {"HMMA.16816": 2048, "FFMA": 32, "FMUL": 32}


@dataclass(frozen=True)
class Loop:
    """From the first instruction to behind the branch back."""

    begin: int
    end: int


@dataclass(frozen=True)
class Count:
    """Instructions that run, and the multiply-adds of a warp among them."""

    instructions: int
    sums: int


@dataclass(frozen=True)
class MainLoop:
    """The loop of a kernel in which a warp copies, waits and does the most of its products with the fewest
    instructions. One iteration of it, in which inner loops run as often as their counters say."""

    whole: int  # instructions of the kernel
    instructions: float
    products: float  # HMMA and IMMA; of a group's HGMMA, what its warp would do by HMMA
    narrow: float  # loads and stores of one or two bytes
    barriers: float
    spills: int  # of the kernel


def main_loop(text: str, kernel: str) -> MainLoop | None:
    """None where the kernel has no products in a loop."""
    code, labels = instructions(text, kernel)
    loops = loops_of(code, labels)
    outer = [a for a in loops if not any(is_inside(a, b) for b in loops)]
    around = [a for b in outer for a in staging(code, b, loops)]
    found = [x for a in around if (x := iteration(code, labels, a, loops))["products"]]
    if not found:
        return None
    best = min(found, key=lambda x: x["instructions"] / x["products"])
    spills = sum(name.startswith(("STL", "LDL")) for name, _ in code)
    real = sum(name != "NOP" for name, _ in code)
    return MainLoop(real, spills=spills, **best)


def staging(code: list[tuple[str, str]], loop: Loop, loops: list[Loop]) -> list[Loop]:
    """The loop, or those inside of it whose warps wait for what they copied and multiply it: what is around
    these begins and ends a pipeline."""
    within = [b for b in loops if is_inside(b, loop)]
    inner = [b for b in within if not any(is_inside(b, c) for c in within)]
    waits = []
    for b in inner:
        kinds = {name.partition(".")[0] for name, _ in code[b.begin : b.end]}
        if "BAR" in kinds and not kinds.isdisjoint(("HMMA", "HGMMA")):
            waits.append(b)
    return [a for b in waits for a in staging(code, b, loops)] or [loop]


def iteration(
    code: list[tuple[str, str]], labels: dict[str, int], loop: Loop, loops: list[Loop]
) -> dict[str, float]:
    """What one iteration has of each kind."""
    inner = [b for b in loops if is_inside(b, loop)]
    inner = [b for b in inner if not any(is_inside(b, c) for c in inner)]
    total = dict.fromkeys(_KINDS, 0.0)
    rare = alternatives(code, labels, loop)
    for n in range(loop.begin, loop.end):
        if n not in rare and not any(b.begin <= n < b.end for b in inner):
            for kind, counts in _KINDS.items():
                total[kind] += counts(code[n][0])
    for b in inner:
        once = iteration(code, labels, b, loops)
        times = trips(code, b)
        for kind in _KINDS:
            total[kind] += times * once[kind]
    return total


def alternatives(code: list[tuple[str, str]], labels: dict[str, int], loop: Loop) -> set[int]:
    """Of two pieces of code, one of which is run, the instructions of the longer one: that for edges."""
    rare: set[int] = set()
    for n in range(loop.begin, loop.end):
        name, rest = code[n]
        other = labels.get(target(rest), 0) if name.startswith("BRA") else 0
        if not n < other <= loop.end or not code[other - 1][0].startswith("BRA"):
            continue
        end = labels.get(target(code[other - 1][1]), 0)
        if other < end <= loop.end and not code[other - 1][1].startswith("@"):
            first, second = range(n + 1, other), range(other, end)
            rare |= set(max(first, second, key=len))
    return rare


_GROUPS = re.compile(r"[HI]GMMA\.64x(\d+)x(?:16|32)\b")


def products_of(name: str) -> int:
    """HMMA of 16 x 8 x 16, or IMMA of twice the depth, that an instruction is for one warp."""
    if found := _GROUPS.match(name):
        return int(found[1]) // 8
    return int(name.startswith(("HMMA", "IMMA")))


_NARROW = re.compile(r"(LDG|STG|LDS|STS|LD|ST)\..*\b[US](8|16)\b")
_KINDS = {
    "instructions": lambda name: name != "NOP",
    "products": lambda name: products_of(name),
    "narrow": lambda name: bool(_NARROW.match(name)),
    "barriers": lambda name: name.startswith("BAR"),
}
_COUNTER = re.compile(r"ISETP\.\w+(?:\.U32)?(?:\.AND)? +P\d, PT, (R\d+), (0x[0-9a-f]+)")


def trips(code: list[tuple[str, str]], loop: Loop) -> int:
    """How often a loop runs whose counter is compared with a constant; 1 of others."""
    body = [f"{name} {rest}" for name, rest in code[loop.begin : loop.end]]
    for line in reversed(body):
        if found := _COUNTER.search(line):
            register, bound = found[1], int(found[2], 16)
            step = re.compile(rf"(?:IADD3|VIADD|UIADD3) {register}, {register}, (0x[0-9a-f]+)\b")
            steps = [int(m[1], 16) for other in body if (m := step.search(other))]
            if len(steps) == 1 and bound % steps[0] == 0:
                return max(bound // steps[0], 1)
    return 1


def loops_of(code: list[tuple[str, str]], labels: dict[str, int]) -> list[Loop]:
    """One for each place that is branched back to."""
    ends: dict[int, int] = {}
    for n, (name, rest) in enumerate(code):
        if name.startswith("BRA") and (to := target(rest)) in labels and labels[to] < n:
            ends[labels[to]] = n + 1
    return [Loop(begin, end) for begin, end in ends.items()]


def is_inside(a: Loop, b: Loop) -> bool:
    return a != b and b.begin <= a.begin and a.end <= b.end


def per_product(text: str, kernel: str, sums: int | None) -> float:
    """Instructions of a warp for each multiply-add, in the loop of whole blocks: of those that copy
    and multiply the one with the fewest. `sums`: multiply-adds of a warp in one iteration, where
    loops inside of it count them several times."""
    code, labels = instructions(text, kernel)
    loops = [
        Loop(labels[to], n + 1)
        for n, (name, rest) in enumerate(code)
        if name.startswith("BRA") and (to := target(rest)) in labels and labels[to] <= n
    ]
    outer = [
        a for a in loops if not any(b != a and b.begin <= a.begin <= a.end <= b.end for b in loops)
    ]
    found = [
        spent(code, set(labels.values()), loop, loops, sums)
        for loop in outer
        if any(name.startswith("LDG") for name, _ in code[loop.begin : loop.end])
    ]
    return min(c.instructions / c.sums for c in found if c.sums)


def instructions(text: str, kernel: str) -> tuple[list[tuple[str, str]], dict[str, int]]:
    """Names and operands in order, and where the labels are."""
    code: list[tuple[str, str]] = []
    labels: dict[str, int] = {}
    inside = False
    for line in text.splitlines():
        if section := _SECTION.match(line):
            inside = section[1] == kernel
        elif inside and (label := _LABEL.match(line)):
            labels[label[1]] = len(code)
        elif inside and (one := _INSTRUCTION.match(line)):
            prefix = one[1] if one[1] and one[2].startswith("BRA") else ""
            code.append((one[2], prefix + one[3]))
    return code, labels


def target(rest: str) -> str:
    found = _TO.search(rest)
    return found[1] if found else ""


def spent(
    code: list[tuple[str, str]], labels: set[int], loop: Loop, loops: list[Loop], sums: int | None
) -> Count:
    """One iteration. Where it has a loop inside, that runs as often as the `sums` ask for."""
    whole = live(code, labels, loop)
    inner = next(
        (b for b in loops if b != loop and loop.begin <= b.begin <= b.end <= loop.end), None
    )
    if inner is None or sums is None:
        return whole
    once = live(code, labels, inner)
    if not once.sums:
        return whole
    times = (sums - (whole.sums - once.sums)) // once.sums
    return Count(whole.instructions + (times - 1) * once.instructions, sums)


def live(code: list[tuple[str, str]], labels: set[int], loop: Loop) -> Count:
    """Without the pieces between branches that load single halves and do nothing else: these are for rows
    that are not aligned."""
    cuts = {loop.begin, loop.end, *(n for n in labels if loop.begin < n < loop.end)}
    cuts |= {n + 1 for n in range(loop.begin, loop.end) if code[n][0].startswith("BRA")}
    count = done = 0
    for a, b in pairwise(sorted(cuts)):
        names = [name for name, _ in code[a:b]]
        products = sum(n for name in names for known, n in _SUMS.items() if name.startswith(known))
        halves = any(name.startswith("LDG") and ".U16" in name for name in names)
        if products or not halves or any(name.startswith("BAR") for name in names):
            count += b - a
            done += products
    return Count(count, done)
