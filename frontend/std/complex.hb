# Complex numbers, as pairs of a real and an imaginary part: `(re, im)`. `import "std/complex.hb"`

# The parts, the conjugate, the square of the absolute value.
def re((a, b))    = a
def im((a, b))    = b
def conj((a, b))  = (a, -b)
def norm2((a, b)) = a * a + b * b

# Sums, differences, products, quotients; a product with a real number and with i.
def cadd((a, b), (c, d)) = (a + c, b + d)
def csub((a, b), (c, d)) = (a - c, b - d)
def cmul((a, b), (c, d)) = (a * c - b * d, a * d + b * c)
def cdiv((a, b), (c, d)) = let q = c * c + d * d in ((a * c + b * d) / q, (b * c - a * d) / q)
def cscale((a, b), s)    = (a * s, b * s)
def times_i((a, b))      = (-b, a)

# exp(i t): cos t + i sin t. exp(z).
def expi(t)      = (cos(t), sin(t))
def cexp((a, b)) = let e = exp(a) in (e * cos(b), e * sin(b))

# As types of both parts.
def c32((a, b)) = (f32(a), f32(b))
def c64((a, b)) = (f64(a), f64(b))
