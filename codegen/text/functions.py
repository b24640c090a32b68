"""The C text of the small functions of generated code, as templates over element types.

$t and $s are names of element types, $T and $S their C types; $W is an unsigned type at least as
wide as int, in which arithmetic wraps. `prelude` picks and fills them.
"""

from hbc.ir.lang.target import ARM, GPU, X86

# Signed arithmetic that wraps: C leaves overflow of signed integers undefined.
WRAP = """\
static inline $T ${family}_$t($T a, $T b)
{
    return ($T)(($W)a $op ($W)b);
}
"""
NEG = """\
static inline $T neg_$t($T a)
{
    return ($T)(0u - ($W)a);
}
"""
ABS = """\
static inline $T abs_$t($T a)
{
    return a < 0 ? ($T)(0u - ($W)a) : a;
}
"""

# Integer division rounds down, and gives 0 for a zero divisor.
DIV_SIGNED = """\
static inline $T div_$t($T a, $T b)
{
    if (b == 0)
        return 0;
    if (b == -1)
        return ($T)(0u - ($W)a);
    const $T quotient = ($T)(a / b);
    return ($T)(quotient - (a % b != 0 && (a < 0) != (b < 0)));
}
"""
MOD_SIGNED = """\
static inline $T mod_$t($T a, $T b)
{
    if (b == 0 || b == -1)
        return 0;
    const $T rest = ($T)(a % b);
    return ($T)(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}
"""
DIV_UNSIGNED = """\
static inline $T ${family}_$t($T a, $T b)
{
    return ($T)(b == 0 ? 0 : a $op b);
}
"""
MOD_FLOAT = """\
static inline $T mod_$t($T a, $T b)
{
    const $T rest = fmod$f(a, b);
    if (rest == 0)
        return copysign$f(rest, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
}
"""
# Shift amounts count modulo the width; signed values shift arithmetically.
SHL = """\
static inline $T shl_$t($T a, $T n)
{
    return ($T)(($W)a << ((unsigned)n & ${last}u));
}
"""
SHR = """\
static inline $T shr_$t($T a, $T n)
{
    return ($T)(a >> ((unsigned)n & ${last}u));
}
"""
LEAST = """\
static inline $T ${family}_$t($T a, $T b)
{
    return a $op b ? a : b;
}
"""
# What `FIXED_POINT` says, in integers of twice the width.
FIXED_POINT = """\
static inline $T ${family}_$t($T a, $T b)
{
    return ($T)($exact);
}
"""
EXACT = {
    "mulhi": "($D)a * b >> $bits", "mulround": "(($D)a * b + ($D)1 * $half) >> $last",
    "avg": "(($D)a + b) >> 1", "avgup": "(($D)a + b + 1) >> 1", "absd": "a < b ? ($D)b - a : ($D)a - b",
}  # fmt: skip
SATURATED = """\
static inline $T ${family}_$t($T a, $T b)
{
    const int64_t exact = (int64_t)a $op b;
    return exact > $MAX ? $MAX : exact < $MIN ? $MIN : ($T)exact;
}
"""
# A NaN operand is the result, as in NumPy.
LEAST_FLOAT = """\
static inline $T ${family}_$t($T a, $T b)
{
    return a $op b || a != a ? a : b;
}
"""
# The same where b is a number: one instruction.
LEAST_NUMBER = """\
static inline $T ${family}_$t($T a, $T b)
{
    return b $op a ? b : a;
}
"""
# Truncates, saturates, and gives 0 for NaN.
SATURATE_SIGNED = """\
static inline $T ${t}_from_$s($S x)
{
    if (x >= $high)
        return $MAX;
    if (x > -$high)
        return ($T)x;
    return x <= -$high ? $MIN : 0;
}
"""
SATURATE_UNSIGNED = """\
static inline $T ${t}_from_$s($S x)
{
    if (x >= $high)
        return $MAX;
    return x > 0 ? ($T)x : 0;
}
"""
BITS = """\
static inline $T bits_${t}_$s($S x)
{
    $T y;
    memcpy(&y, &x, sizeof y);
    return y;
}
"""

# Half precision and bfloat16 are stored as uint16_t; both round to nearest, ties to even.
FIXED = {
    # The nearest float with a significand of 10 bits, ties away from zero.
    "tf32_f32": """\
static inline float tf32_f32(float x)
{
    const uint32_t bits = bits_u32_f32(x);
    return (bits & 0x7f800000u) == 0x7f800000u ? x : bits_f32_u32((bits + 0x1000u) & 0xffffe000u);
}
""",
    "f32_from_bf16": """\
static inline float f32_from_bf16(uint16_t x)
{
    return bits_f32_u32((uint32_t)x << 16);
}
""",
    "bf16_from_f32": """\
static inline uint16_t bf16_from_f32(float x)
{
    const uint32_t bits = bits_u32_f32(x);
    if (x != x)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
""",
    "f32_from_f16": """\
static inline float f32_from_f16(uint16_t x)
{
    const uint32_t sign = (uint32_t)(x & 0x8000) << 16, magnitude = (uint32_t)(x & 0x7fff) << 13;
    if (magnitude >= 0x0f800000)  // infinity, NaN
        return bits_f32_u32(sign | 0x7f800000 | magnitude);
    if (magnitude >= 0x00800000)
        return bits_f32_u32(sign | (magnitude + 0x38000000));
    const float subnormal = (float)(magnitude >> 13) * 0x1p-24f;
    return sign ? -subnormal : subnormal;
}
""",
    "f16_from_f32": """\
static inline uint16_t f16_from_f32(float x)
{
    const uint32_t bits = bits_u32_f32(x), magnitude = bits & 0x7fffffff;
    const uint32_t sign = bits >> 16 & 0x8000;
    if (magnitude > 0x7f800000)
        return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
    if (magnitude >= 0x47800000)  // 65536: infinity
        return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x38800000)  // subnormal: the units of 0.5 + x are those of the result
        return (uint16_t)(sign | (bits_u32_f32(bits_f32_u32(magnitude) + 0.5f) - 0x3f000000));
    return (uint16_t)(sign | (((magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13) - 0x1c000));
}
""",
    "odd_f32_f64": """\
/* Rounded to odd: rounding that once more, to fewer bits, is rounding x once. */
static inline float odd_f32_f64(double x)
{
    const float near = (float)x;
    const uint32_t bits = bits_u32_f32(near);
    if (x != x || (double)near == x)
        return near;
    return bits_f32_u32((bits - (fabs((double)near) > fabs(x))) | 1);
}
""",
    "f16_from_f64": """\
static inline uint16_t f16_from_f64(double x)
{
    return f16_from_f32(odd_f32_f64(x));
}
""",
    "bf16_from_f64": """\
static inline uint16_t bf16_from_f64(double x)
{
    return bf16_from_f32(odd_f32_f64(x));
}
""",
    "bf16_from_i64": """\
static inline uint16_t bf16_from_i64(int64_t x)
{
    // Beyond 2^32 the low bits only say whether there is more: then x is exact in double.
    if (x >= INT64_C(4294967296) || x <= -INT64_C(4294967296))
        x = (x & ~INT64_C(0xffff)) | ((x & 0xffff) != 0);
    return bf16_from_f64((double)x);
}
""",
    "bf16_from_u64": """\
static inline uint16_t bf16_from_u64(uint64_t x)
{
    if (x >= UINT64_C(4294967296))
        x = (x & ~UINT64_C(0xffff)) | ((x & 0xffff) != 0);
    return bf16_from_f64((double)x);
}
""",
}
_F16C = {
    "f32_from_f16": """\
static inline float f32_from_f16(uint16_t x)
{
    return _cvtsh_ss(x);
}
""",
    "f16_from_f32": """\
static inline uint16_t f16_from_f32(float x)
{
    return _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT);
}
""",
}
_FP16 = {
    "f32_from_f16": """\
static inline float f32_from_f16(uint16_t x)
{
    __fp16 half;
    memcpy(&half, &x, sizeof half);
    return (float)half;
}
""",
    "f16_from_f32": """\
static inline uint16_t f16_from_f32(float x)
{
    const __fp16 half = (__fp16)x;
    uint16_t bits;
    memcpy(&bits, &half, sizeof bits);
    return bits;
}
""",
}
_CUDA = {
    # The one instruction that CUDA's exp2f is made of, which is within 2 ulp ("CUDA C++ Programming Guide",
    # "Mathematical Functions"). What would be less than the least normal number is 0.
    "exp2_f32": """\
static inline float exp2_f32(float x)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return exp2f(x);
#endif
}
""",
    # One instruction that gives NaN where an operand is (PTX ISA, "Floating Point Instructions: max").
    "min_f32": """\
static inline float min_f32(float a, float b)
{
#if __CUDA_ARCH__ >= 800
    float c;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    return c;
#else
    return a < b || a != a ? a : b;
#endif
}
""",
    "max_f32": """\
static inline float max_f32(float a, float b)
{
#if __CUDA_ARCH__ >= 800
    float c;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    return c;
#else
    return a > b || a != a ? a : b;
#endif
}
""",
    # Of indices of either width, and literals, which are ints.
    "min_i64": """\
template <class A, class B>
static inline auto min_i64(A a, B b) -> decltype(a + b)
{
    return a < b ? a : b;
}
""",
    "max_i64": """\
template <class A, class B>
static inline auto max_i64(A a, B b) -> decltype(a + b)
{
    return a > b ? a : b;
}
""",
    "div_i64": """\
template <class A, class B>
static inline auto div_i64(A a, B b) -> decltype(a + b)
{
    if (b == 0)
        return 0;
    if (b == -1)
        return (decltype(a + b))(0u - (uint64_t)a);
    const decltype(a + b) quotient = a / b;
    return quotient - (a % b != 0 && (a < 0) != (b < 0));
}
""",
    "mod_i64": """\
template <class A, class B>
static inline auto mod_i64(A a, B b) -> decltype(a + b)
{
    if (b == 0 || b == -1)
        return 0;
    const decltype(a + b) rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
""",
    "f32_from_f16": """\
static inline float f32_from_f16(uint16_t x)
{
    return __half2float(__ushort_as_half(x));
}
""",
    "f16_from_f32": """\
static inline uint16_t f16_from_f32(float x)
{
    return __half_as_ushort(__float2half_rn(x));
}
""",
    "bf16_from_f32": """\
static inline uint16_t bf16_from_f32(float x)
{
    return __bfloat16_as_ushort(__float2bfloat16_rn(x));
}
""",
}
# By machine, instead of the portable ones.
OF_MACHINE = {X86: _F16C, ARM: _FP16, GPU: _CUDA}

ALLOCATE = """\
#if defined(__linux__)  /* as in <sys/mman.h>, which hides it from -std=c11 */
int madvise(void *start, size_t bytes, int advice);
#endif

/* Memory for `count` elements, aligned to 64 bytes; NULL when there is not that much. What is large
   lies in pages of 2 MB where the system has them: each costs a fault when it is first touched. */
static void *allocate(int64_t count, size_t size)
{
    if (count < 0 || (uint64_t)count > (SIZE_MAX / 2 - 64) / size)
        return NULL;
    const size_t bytes = ((size_t)count * size + 64) / 64 * 64;
#if defined(_WIN32)
    return _aligned_malloc(bytes, 64);
#else
    char *const p = aligned_alloc(64, bytes);
#if defined(__linux__)
    const size_t page = (size_t)1 << 21;
    if (p != NULL && bytes >= 2 * page) {
        char *const first = p + (page - (uintptr_t)p % page) % page;
        madvise(first, (size_t)(p + bytes - first) / page * page, 14);  /* MADV_HUGEPAGE */
    }
#endif
    return p;
#endif
}
"""
RELEASE_MEMORY = """\
static void release(void *p)
{
#if defined(_WIN32)  /* has no aligned_alloc */
    _aligned_free(p);
#else
    free(p);
#endif
}
"""
