# Small functions of numbers, generic in their types. `import "std/math.hb"`

# Averages of integers without a wider type's overflow: rounded up (a half goes up), and down.
def rounding_average(a, b) = (a | b) - ((a ^ b) >> 1)
def halving_average(a, b)  = (a & b) + ((a ^ b) >> 1)

# The distance of a and b, without a difference below zero, for unsigned integers too.
def absd(a, b) = max(a, b) - min(a, b)

# Products of a value with itself.
def square(x) = x * x
def cube(x)   = x * x * x

# a at t = 0, b at t = 1.
def lerp(a, b, t) = a + (b - a) * t

# 0 below the first edge, 1 above the second, smooth between them.
def smoothstep(low, high, x) = let t = clamp((x - low) / (high - low), 0, 1) in t * t * (3 - 2 * t)

# -1, 0 or 1.
def sign(x) = select(x > 0, 1, select(x < 0, -1, 0))

# The remainder of floats with the sign of the divisor, as `%` has it for integers.
def float_mod(x, y) = x - floor(x / y) * y

# Logarithms to other bases.
def log2(x)  = log(x) * 1.4426950408889634
def log10(x) = log(x) * 0.4342944819032518

# x to the power y: as C has it; sooner, for x > 0.
def pow(x, y)   = x ** y
def power(x, y) = exp(y * log(x))

# The root of x^2 + y^2, which does not overflow; the cube root.
def hypot(x, y) = let m = max(abs(x), abs(y)) in select(m == 0, 0, m * sqrt((x / m) * (x / m) + (y / m) * (y / m)))
def cbrt(x)     = let r = exp(log(abs(x)) / 3) in select(x == 0, 0, sign(x) * (r - (r - abs(x) / (r * r)) / 3))

# log(1 + x) and exp(x) - 1, exact to rounding near 0 too (Kahan's: what rounding took from 1 + x is put back).
def log1p(x) = let u = 1 + x in select(u == 1, x, log(u) * x / (u - 1))
def expm1(x) = let u = exp(x) in select(u == 1, x, select(abs(x) > 1, u - 1, (u - 1) * x / log(u)))

# Hyperbolic functions.
def sinh(x) = let e = expm1(abs(x)) in sign(x) * select(e > 100000000, e / 2, (e + e / (e + 1)) / 2)
def cosh(x) = let e = exp(abs(x)) in (e + 1 / e) / 2

# Angles, within 4e-7 of themselves: a polynomial below tan(pi / 8), from where others are turned there.
def tan(x) = sin(x) / cos(x)
def atan_small(x) = let z = x * x in
    x + x * z * (-0.33332940936 + z * (0.19977329671 + z * (-0.13872846961 + z * 0.08036030829)))
def atan_positive(x) = select(x > 2.414213562373095, 1.5707963267948966 - atan_small(1 / x),
    select(x > 0.4142135623730950, 0.7853981633974483 + atan_small((x - 1) / (x + 1)), atan_small(x)))
def atan(x)     = select(x < 0, -atan_positive(abs(x)), atan_positive(abs(x)))
def atan2(y, x) = let turn = select(x < 0, 3.141592653589793, 0) in
    select(x == 0, select(y > 0, 1.5707963267948966, select(y < 0, -1.5707963267948966, 0)),
           select(y < 0, atan(y / x) - turn, atan(y / x) + turn))
def asin(x)     = atan2(x, sqrt((1 - x) * (1 + x)))
def acos(x)     = atan2(sqrt((1 - x) * (1 + x)), x)

# The error function and 1 - erf(x), within 4e-7 of themselves (erfc: up to x = 1; to 1e-5 where it ends, at 9).
def erf_small(x)  = let z = x * x in
    x * (1.12837916709 + z * (-0.376126271 + z * (0.112836002 + z * (-0.0268544446 + z * (0.00518953534 +
    z * (-0.000802084124 + z * 0.0000788911940))))))
def erfc_great(x) = let t = 1 / (x + 2) in exp(-x * x) * (-0.00000410342545 + t * (0.564398815 + t * (1.12396305 +
    t * (2.02373941 + t * (2.52865897 + t * (3.37097623 + t * (1.60383185 + t * (-23.6851704 + t * 20.7081255))))))))
def erf(x)        = select(abs(x) < 1, erf_small(x), sign(x) * (1 - erfc_great(abs(x))))
def erfc(x)       = select(abs(x) < 1, 1 - erf_small(x), select(x < 0, 2 - erfc_great(-x), erfc_great(x)))

# Towards zero, to a whole number.
def trunc(x) = select(x < 0, ceil(x), floor(x))

# Conversions to a narrower integer type T, with values beyond its range at its ends.
def saturate(x, T, low, high) = T(clamp(x, low, high))
def saturate_u8(x)            = u8(clamp(x, 0, 255))
def saturate_i8(x)            = i8(clamp(x, -128, 127))
def saturate_u16(x)           = u16(clamp(x, 0, 65535))
def saturate_i16(x)           = i16(clamp(x, -32768, 32767))

# Sums and differences whose values beyond the type's range are at its ends.
def saturating_add_u8(a, b)  = u8(min(u16(a) + u16(b), 255))
def saturating_add_i8(a, b)  = i8(clamp(i16(a) + i16(b), -128, 127))
def saturating_add_u16(a, b) = u16(min(u32(a) + u32(b), 65535))
def saturating_add_i16(a, b) = i16(clamp(i32(a) + i32(b), -32768, 32767))
def saturating_sub_u8(a, b)  = u8(max(i16(a) - i16(b), 0))
def saturating_sub_i8(a, b)  = i8(clamp(i16(a) - i16(b), -128, 127))
def saturating_sub_u16(a, b) = u16(max(i32(a) - i32(b), 0))
def saturating_sub_i16(a, b) = i16(clamp(i32(a) - i32(b), -32768, 32767))

# Products in a type of twice the bits; their high halves; those of numbers with 15 fractional bits, rounded.
def widening_mul_u8(a, b)  = u16(a) * u16(b)
def widening_mul_i8(a, b)  = i16(a) * i16(b)
def widening_mul_u16(a, b) = u32(a) * u32(b)
def widening_mul_i16(a, b) = i32(a) * i32(b)
def mul_high_u16(a, b)     = u16((u32(a) * u32(b)) >> 16)
def mul_high_i16(a, b)     = i16((i32(a) * i32(b)) >> 16)
def mul_round_i16(a, b)    = i16((i32(a) * i32(b) + 16384) >> 15)

# (x + 2^(s - 1)) / 2^s: a shift that rounds a half up.
def rounding_shift(x, s) = (x + (1 << (s - 1))) >> s

# Of the 32 bits of a u32: how many are set, how many zeros lead, and all in the reverse order.
def popcount(x)    = let pairs = x - ((x >> 1) & 1431655765) in
    let fours = (pairs & 858993459) + ((pairs >> 2) & 858993459) in
    ((fours + (fours >> 4)) & 252645135) * 16843009 >> 24
def filled_below(x) = let a = x | (x >> 1) in let b = a | (a >> 2) in let c = b | (b >> 4) in
    let d = c | (c >> 8) in d | (d >> 16)
def clz(x)         = 32 - popcount(filled_below(x))
def bit_reverse(x) = let a = ((x >> 1) & 1431655765) | ((x & 1431655765) << 1) in
    let b = ((a >> 2) & 858993459) | ((a & 858993459) << 2) in
    let c = ((b >> 4) & 252645135) | ((b & 252645135) << 4) in
    let d = ((c >> 8) & 16711935) | ((c & 16711935) << 8) in (d >> 16) | (d << 16)

# The greater or lesser of two values with their places, the first where they are equal: an argmax is
# (best[x], at[x]) = argmax((A[x, r], i32(r)), (best[x], at[x])), from (lowest, 0).
def argmax((v, i), (best, at)) = select(v > best, (v, i), (best, at))
def argmin((v, i), (best, at)) = select(v < best, (v, i), (best, at))
