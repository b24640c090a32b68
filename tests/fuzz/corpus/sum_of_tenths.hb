# Broke: the proof of a selection compared sums exactly, which a literal with a fraction makes round: exit 70.
# sizes: N=37 | N=1 target: avx512bf16 fixed: 0 seed: 0
size N
input A: f16[32, N]
output f0: f32[N]
reduce r1 in 32
f0[x] = 0
f0[x] += 0.1 * f32(A[r1, x / 2])
schedule s for avx512bf16 {
    f0.update.atomic().vectorize(r1, 4).vectorize(x, 16)
}
