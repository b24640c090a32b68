"""Directives and functions of Halide, C and NumPy that are not here, each with what is done instead.

A name in these tables gets no guess at its spelling: who writes it means it.
"""

from __future__ import annotations

STORAGE = (
    "storage that slides wraps round by itself: `store_at` an outer loop, `compute_at` an inner one"
)
GPU = "on GPUs `tile` the loops, then `gpu_blocks(io, jo)` and `gpu_threads(ii, ji)`"
SAFE = "lanes and threads that may meet are asked for by `atomic()`, or kept apart by `rfactor`"
TRACE = (
    "write `trace()`: `hbc run --trace FILE` then writes its values down, in the order of the loops"
)
EMIT = "`hbc compile` writes C, objects, libraries and the loops: `--emit c`, `obj`, `a`, `so`, `loops`"
ARRAYS = (
    "extents stand in the declaration, `input A: f32[H, W]`; rows that lie apart are for `NAME_strided` "
    "of the header"
)
BOUNDS = "the compiler finds what is computed; `bound(i, 0, 64)` promises it"

FOREIGN_DIRECTIVES: dict[str, str] = {
    "memoize": "results are not kept between calls: make it an output, and an input of the next kernel",
    "clone_in": "a copy that one reader has is `f.in(g)`, scheduled like a Func: `f.in(g).compute_at(g, i)`",
    "store_with": "each Func has storage of its own: an update writes over the step before in place",
    "ring_buffer": "`async()` has two buffers, on GPUs `pipeline(k, 2)` several stages of a copy; elsewhere "
    + STORAGE,
    "double_buffer": "`async()` has two buffers, on GPUs `pipeline(k, 2)` two stages of a copy",
    "serial": "a loop is serial unless told otherwise: leave it out",
    "rename": "`split(i, io, ii, 8)` and `tile` name the loops that they make; others keep their names",
    "align_bounds": BOUNDS + ", `pad_storage(j, 16)` makes rows a multiple of 16 elements",
    "align_extent": BOUNDS + ", `pad_storage(j, 16)` makes rows a multiple of 16 elements",
    "align_storage": "write `pad_storage(j, 16)`: each row is then a multiple of 16 elements",
    "bound_extent": "write `bound(i, 0, 64)`",
    "bound_storage": BOUNDS,
    "estimate": "sizes for a trial stand in an `example { N = 512 }`",
    "set_estimate": "sizes for a trial stand in an `example { N = 512 }`",
    "set_estimates": "sizes for a trial stand in an `example { N = 512 }`",
    "never_partition": "write `partition(x, never)`",
    "always_partition": "write `partition(x)`",
    "allow_race_conditions": SAFE,
    "add_trace_tag": TRACE,
    "trace_stores": TRACE,
    "trace_loads": TRACE,
    "debug_to_file": "declare it, `output f: f32[H, W]`: `hbc run --output f=f.npy` writes it",
    "print_loop_nest": "`hbc compile --emit loops` shows the loops, `hbc explain` what was chosen in them",
    **dict.fromkeys(
        ("realize", "compile_jit"), "`hbc run` and `hbc.compile` of Python run the kernel"
    ),
    **dict.fromkeys(("compile_to_c", "compile_to_static_library", "compile_to_object"), EMIT),
    **dict.fromkeys(("compile_to_lowered_stmt", "compile_to_file"), EMIT),
    "infer_input_bounds": "extents stand in the declaration, `input I: f32[H + 2, W + 2]`",
    **dict.fromkeys(("dim", "set_min", "set_extent", "set_bounds", "set_stride"), ARRAYS),
    "set_host_alignment": "arrays need the alignment of their elements alone: leave it out",
    "unscheduled": "what has no directive needs none: leave it out",
    "peel": "write `partition(x)`: iterations at the edges get loops of their own",
    "always_partition_all": "write `partition(x)` for each loop",
    "never_partition_all": "write `partition(x, never)` for each loop",
    "trace_realizations": TRACE,
    "gpu": GPU,
    "gpu_tile": GPU,
    "gpu_single_thread": GPU,
    "gpu_warps": GPU,
    "hexagon": "there is no such target: `hbc targets` lists them",
    "hvx": "there is no such target: `hbc targets` lists them",
    "copy_to_device": "the kernel gets arrays of the GPU, and copies between them and the host are yours",
    "copy_to_host": "the kernel gets arrays of the GPU, and copies between them and the host are yours",
    "interchange": "write `reorder(i, j)`, the outermost loop first",
    "unroll_jam": "split the outer loop and unroll its inner part: `split(i, io, ii, 4).reorder(j, ii)"
    ".unroll(ii)`",
    "cache_read": "a copy of an input is `A.in(f)`: `A.in(f).compute_at(f, i).store_in(stack)`",
    "tensorize": "where the target has instructions they are chosen by the compiler: `hbc explain`",
    "bind": GPU,
    "fission": "each definition has loops of its own; give a part a Func, and `compute_root()`",
    "eager_inline": "write `compute_inline()`",
    "inline": "write `compute_inline()`; a Func that no schedule places is computed so",
    "atomic_add": "write `f[i] += x` in the algorithm; " + SAFE,
    "no_profiling": "there is no profiler to turn off: leave it out",
    # TVM
    "set_scope": "write `store_in(stack)`, `store_in(registers)` or, on GPUs, `store_in(shared)`",
    "storage_align": "write `pad_storage(j, 16)`: each row is then a multiple of 16 elements",
    "decompose_reduction": "the first value is a definition, `acc[i] = 0`; the steps are `acc.update`",
    "rolling_buffer": STORAGE,
    "reverse_compute_at": "the consumer is computed where it is; place the producer: `f.compute_at(g, i)`",
    "reverse_compute_inline": "write the epilogue into the consumer, or leave it inlined",
    "blockize": "`tile` the loops: what is below is chosen by the compiler, `hbc explain` says how",
    "annotate": "what a loop is said to be is a directive: `vectorize`, `unroll`, `parallel`",
    "pragma": "what a loop is said to be is a directive: `vectorize`, `unroll`, `parallel`",
    "vthread": GPU,
    # ispc
    "foreach": "write `vectorize(i, 8)`, and `parallel` for threads",
    "foreach_tiled": "write `tile(i, j, io, jo, ii, ji, 4, 8).vectorize(ji)`",
    "foreach_active": "lanes are together: a condition is `select` or `where`",
    "launch": "write `parallel(i)`",
    "specialize_fail": 'write `require N % 16 == 0, "..."` among the definitions',
}

MATH = '`import "std/math.hb"` brings '
POWER = "a power is written `x ** y`"
CASTS = "a cast is the name of the type: `f32(x)`"
ROUNDED = "conversions of floats to integers saturate: `u8(x)`; of integers, `u8(clamp(x, 0, 255))`"
REDUCED = (
    "name what it runs along: `sum(k in 0 .. K: A[i, k])`, also `product max min any all`; or an update, "
    "`s[i] = 0` and `s[i] += A[i, k]` along `reduce k in K`"
)
ARGUMENT = (
    'keep the value and its place: `import "std/math.hb"`, then '
    "`(m[x], i[x]) = argmax((A[x, r], i32(r)), (m[x], i[x]))`"
)
PRINTED = "`f.trace()` in a schedule, and `hbc run --trace FILE`, writes the values of `f` down"
LIMITS = "`lowest` and `highest` stand alone: the ends of the type that they meet, `m[x] = lowest`"
FOREIGN_FUNCTIONS: dict[str, str] = {
    "i4": "4 bits are a type of inputs and outputs, of i8: write `i8(...)`",
    "u4": "4 bits are a type of inputs and outputs, of u8: write `u8(...)`, or keep the low bits by `& 15`",
    **dict.fromkeys(("pow", "powf", "fast_pow"), POWER),
    **dict.fromkeys(("atanf", "arctan"), f"{MATH}`atan(x)`"),
    **dict.fromkeys(("atan2f", "arctan2"), f"{MATH}`atan2(y, x)`"),
    "arcsin": f"{MATH}`asin(x)`",
    "arccos": f"{MATH}`acos(x)`",
    "fast_exp": "write `exp(x)`",
    "fast_log": "write `log(x)`",
    "fast_inverse": "write `1 / x`",
    "fast_inverse_sqrt": "write `rsqrt(x)`",
    "fma": "write `a * b + c`: the compiler fuses where the target can",
    "fmod": "write `x % y`, which has the sign of y",
    "mod": "write `x % y`",
    "fabs": "write `abs(x)`",
    "fmin": "write `min(a, b)`",
    "fmax": "write `max(a, b)`",
    "minimum": "write `min(a, b)`",
    "maximum": "write `max(a, b)`",
    "mix": f"{MATH}`lerp(a, b, t)`",
    "rint": "write `round(x)`: ties go to the even number",
    "nearbyint": "write `round(x)`: ties go to the even number",
    "softmax": "take the greatest value, `exp` of the differences, and divide by their sum",
    "where": "write `select(condition, a, b)`",
    "if_then_else": "write `select(condition, a, b)`",
    "ite": "write `select(condition, a, b)`",
    "mux": "write `select(k == 0, a, select(k == 1, b, c))`",
    **dict.fromkeys(("cast", "convert", "astype", "static_cast", "int", "float", "double"), CASTS),
    **dict.fromkeys(("saturating_cast", "u8_sat"), ROUNDED),
    "reinterpret": "bits cannot be read as another type: the array is declared with the one that it has",
    **dict.fromkeys(("sum", "product", "prod", "mean", "dot", "inline_reduction"), REDUCED),
    **dict.fromkeys(("argmax", "argmin"), ARGUMENT),
    **dict.fromkeys(("repeat_edge", "clamp_to_edge"), "the last value is repeated by `clamp_edge(A)`"),
    "constant_exterior": "zeros are around `zero_edge(A)`; other values by `select` and `clamp_edge(A)`",
    "mirror_image": "write `mirror(A)`: the last value comes twice",
    "mirror_interior": "`mirror(A)` has the last value twice; once has `A[N - 1 - abs(N - 1 - abs(x))]`",
    "repeat_image": "write `wrap(A)`",
    "BoundaryConditions": "write `clamp_edge(A)`, `zero_edge(A)`, `mirror(A)` or `wrap(A)`",
    **dict.fromkeys(("lowest", "highest", "min_value", "max_value", "numeric_limits"), LIMITS),
    **dict.fromkeys(("len", "size", "shape", "dim"),
                    "extents have names: of `input A: f32[H, W]` they are `H` and `W`"),
    "range": "an interval is `0 .. N`: `reduce k in 0 .. N`, `sum(k in 0 .. N: A[k])`",
    # Fixed point of Halide, whose types are in the name here
    **dict.fromkeys(("saturating_add", "saturating_sub", "widening_mul", "mul_high"),
                    f"{MATH}it for each type: `saturating_add_u8(a, b)`, `saturating_sub_i16(a, b)`, "
                    "`widening_mul_i16(a, b)`, `mul_high_u16(a, b)`"),
    **dict.fromkeys(("widening_add", "widening_sub"), "write `u16(a) + u16(b)`: it takes one instruction"),
    **dict.fromkeys(("halving_add", "halving_sub"), f"{MATH}`halving_average(a, b)`"),
    **dict.fromkeys(("rounding_halving_add", "avg_up"), f"{MATH}`rounding_average(a, b)`"),
    **dict.fromkeys(("rounding_shift_right", "rounding_shift_left"), f"{MATH}`rounding_shift(x, s)`"),
    **dict.fromkeys(("mul_shift_right", "rounding_mul_shift_right"),
                    f"{MATH}`mul_high_i16(a, b)` for a shift of 16, `mul_round_i16(a, b)` for a "
                    "rounded one of 15; others are `i16((i32(a) * b) >> s)`"),
    "strict_float": "each target rounds as `docs/language.md` says; sums are in the order of the loops",
    # Lanes of ispc and TVM
    **dict.fromkeys(("broadcast", "extract", "insert", "rotate", "shift", "shuffle", "packmask", "lanemask"),
                    "lanes have no names: say which element goes where, `O[i] = A[...]`"),
    **dict.fromkeys(("reduce_add", "reduce_max", "reduce_min", "te_sum"), REDUCED),
    "likely": "loops at edges are parted by the compiler: leave it out",
    "unsafe_promise_clamped": "promise it: `bound A in 0 .. N` beside the input",
    "count_leading_zeros": f"{MATH}`clz(x)` of a u32",
    "ctz": f"{MATH}`popcount`: write `popcount(~x & (x - 1))` of a u32",
    "isnan": "write `x != x`",
    "is_nan": "write `x != x`",
    "random_float": "random numbers are an input: `example { A = random(1) }`",
    "printf": PRINTED,
    "print": PRINTED,
}  # fmt: skip
