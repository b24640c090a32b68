"""Words that begin statements in Halide, C, Python and ispc, each with what is written here.

A word of this table gets no guess at its spelling: who writes it means it.
"""

from __future__ import annotations

LET = "`let a = 3 in a * x`"
FUNC = "`f[x] = ...` alone, which declares `f` and its variables"
CONSTANT = f"a constant is `param a: f32 = 3`; a name for a value stands in a formula, {LET}"
INDICES = (
    f"variables run over positions and are not declared: `f[x] = ...`; a name for a value is {LET}"
)
FUNCTION = "a function of values is `def avg(a, b) = (a + b + 1) / 2`; a Func is `f[x] = ...`"
LIBRARY = 'functions come from `import "std/math.hb"`, `"std/image.hb"`, `"std/ml.hb"`, or a file of yours'
CALLED = (
    "C calls it by the kernel's name, Python by `hbc.compile(FILE)`, the shell by `hbc run FILE`"
)
SCALAR = (
    "write `input gain: f32`, or `param R: i32 = 3` where it is known when the kernel is compiled"
)

_WORDS = {
    "axis RVar Var": "variables are not declared: `f[x] = ...`, or `reduce k in K`",
    "RDom reduce_axis reduction": "write `reduce r in 0 .. 10`: the end is not part of it",
    "scan": "write `reduce t in T`: an update that reads what it stored at earlier `t` is a scan",
    "Expr Func Stage Tuple": f"write {FUNC}",
    "array Buffer Image ImageParam Tensor": "write `input A: f32[H, W]`",
    "Param scalar uniform": SCALAR,
    "bool char int long short signed size_t uint unsigned varying": INDICES,
    "i8 i16 i32 i64 int8_t int16_t int32_t int64_t u8 u16 u32 uint8_t uint16_t uint32_t uint64_t": INDICES,
    "auto bf16 double f16 f8e4m3 f8e5m2 f32 f64 float half": CONSTANT,
    "const constexpr define global static": CONSTANT,
    "fn func function inline lambda proc void": FUNCTION,
    "return yield": "what leaves the kernel is an output: `output O: f32[N]`, then `O[i] = ...`",
    "from include use using": LIBRARY,
    "do forall foreach loop parfor prange": "a definition, `f[x] = ...`, covers all points of its variables; "
    "what runs where is said by a schedule",
    "class enum struct typedef": "a name for a type is `type T = f32`; several values at a point are "
    "`(a[x], b[x]) = ...`",
    "export extern main pub public": CALLED,
    "assert print printf": "a promise about sizes is `require N >= 1`; `hbc verify` compares every stage",
}
OPENINGS = {word: hint for words, hint in _WORDS.items() for word in words.split()}
"""The word -> the hint."""
