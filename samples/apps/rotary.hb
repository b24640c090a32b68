# Rotary position embedding: the two halves of each head's vector turn by angles that grow with the position.
size   T, HEADS, D
input  X: f32[T, HEADS, 2, D]
input  base: f32
output Y: f32[T, HEADS, 2, D]

angle[t, d]   = f32(t) * exp(-log(base) * f32(d) / f32(D))
cosine[t, d]  = cos(angle[t, d])
sine[t, d]    = sin(angle[t, d])
Y[t, h, c, d] = X[t, h, c, d] * cosine[t, d] + select(c == 0, -1, 1) * X[t, h, 1 - c, d] * sine[t, d]

schedule positions for c, avx2, avx512, arm_dot {
    Y.parallel(t).vectorize(d, 16).unroll(c)
    cosine.compute_root().vectorize(d, 16).parallel(t)
    sine.compute_root().vectorize(d, 16).parallel(t)
    angle.compute_root().vectorize(d, 16).parallel(t)
}

example { T = 128; HEADS = 16; D = 32; X = random(1, -1, 1); base = 10000 }
