# Broke: the oracle said NaN of a zero that is multiplied by finite factors: their product alone is infinite.
# sizes: H=33 | H=12 | H=3 target: c fixed: 0 seed: 11
size H
input B: f32[H + 2]
output f1: f32[H + 7, H]
PB = mirror(B)
table T: f32[4, 3] [u, v] = f32(u * 3 + v)
reduce r1 in 1 .. H + 1
f1[i, j] = T[clamp(i, 0, 3), clamp(i, 0, 2)]
f1[clamp(i64(B[r1 + 1] * 4), 0, 6), j] *= (B[j] * T[clamp(j, 0, 3), r1 % 3])
schedule s for c {
    f1.tile(i, j, ao1, bo3, ai2, bi4, 2, 5, tail = shift)
    f1.update.unroll(j, 3, tail = exact).vectorize(j, 2, tail = guard).split(r1, ro5, ri6, 7, tail = mask)
}
