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

# x to the power y, for x > 0.
def power(x, y) = exp(y * log(x))

# Conversions to a narrower integer type T, with values beyond its range at its ends.
def saturate(x, T, low, high) = T(clamp(x, low, high))
def saturate_u8(x)            = u8(clamp(x, 0, 255))
def saturate_i8(x)            = i8(clamp(x, -128, 127))
def saturate_u16(x)           = u16(clamp(x, 0, 65535))
def saturate_i16(x)           = i16(clamp(x, -32768, 32767))

# (x + 2^(s - 1)) / 2^s: a shift that rounds a half up.
def rounding_shift(x, s) = (x + (1 << (s - 1))) >> s
