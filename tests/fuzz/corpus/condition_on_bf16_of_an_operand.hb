# Broke: a condition on bf16 under which an instruction's operand is loaded was not legalized.
# sizes: W=2 target: avx512bf16 fixed: 0 seed: 0
size W
input A: bf16[3 * W + 4, W + 4]
input B: bf16[3]
output f2: f32[W, W]
require 2 <= W, "too small"
PA = mirror(A)
reduce r1 in 4
reduce r3 in 2
f0[x] = A[x + 2, x + 2]
f1[x] = f32(A[x, x])
f1[x] += f32(B[r3 + r3]) * f32(f0[r3]) where ((x % 3 == 1) and (A[3 * x, r3] <= A[x, x]))
f2[n, c] = (let q2 = c in f1[n])
f2[n, c] += f32(PA[c, c + 1]) * f32(f0[r1 - 2])

schedule auto_avx512bf16 for avx512bf16 {
    f2.vectorize(c, 16).parallel(n)
    f2.update.split(r1, r1o, r1i, 64).rfactor(r1i, u)
    f2.update.atomic().vectorize(r1i).parallel(n)
    f2_u.compute_at(f2.update, c).store_in(registers).vectorize(u, 16).unroll(u)
    f2_u.update.reorder(n, c, r1o, u).vectorize(u, 16).unroll(u)
    f1.compute_root().vectorize(x, 16)
    f1.update.split(x, xo, xi, 16).reorder(xo, xi, r3).atomic().vectorize(r3).vectorize(xi, 16)
    f1.update.parallel(xo)
    f0.compute_root().bound(x, -2, 4).vectorize(x, 4)
}
