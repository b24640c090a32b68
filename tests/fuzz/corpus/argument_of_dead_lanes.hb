# Broke: a function for statements that are alike had an argument of lanes alone that are never live.
# sizes: W=4 Q=1 target: avx512bf16 fixed: 1 seed: 11
size W
input A: bf16[2 * W + 5, W + 3]
output f1: f32[W, W]
param P: f16 = 1.25
input Q: i32
bound Q in 1 .. 4
def d4((p, q), (r, s)) = (p + r, q)
reduce r1 in 2
reduce r3 in W
(f0: f32[n], g0: bf16[n]) = (f32(A[2 * n, 1]), bf16(1))
(f0[n], g0[n]) = d4(((f0[n] + f32(A[n, r3]) * f32(A[r3 + r3, n])), g0[n] + bf16(f0[n])), (f0[n], g0[n]))
f1[i, j] = (let q2 = clamp(i64(round(A[i, j])), 0, W - 1) in f0[i])
f1[i, j] += f32(g0[2]) * f32(A[j, clamp(j + -2, 0, W - 1)]) * f32(r1) where (r1 + 3 <= W)
schedule s for avx512bf16 {
    f1.update.atomic().vectorize(r1).vectorize(i, 8).reorder(i, j, i_v, r1)
    A.in(f1).compute_inline()
    f0.compute_root()
    f0.update.unroll(n, 3).vectorize(n, 4).split(n, no1, ni2, 1, tail = mask)
}
