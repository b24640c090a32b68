# Broke: the address of what no lane is live for was an element far behind an array of two: undefined, though nothing is read there.
# sizes: W=5 H=4 target: avx512 fixed: 0 seed: 7
size W, H
input A: bf16[H + 1, 3, W + 1]
input B: bf16[H + 5, 3 * H + 2]
output f1: bf16[H]
input S: bf16
reduce r1 in 2 .. H
reduce r3 in W
f0[x, y, z] = select((y < 3), wrap(A)[select(x < y, x % 8, 7), 2 * y, 3 * x], bf16(z))
f0[x, y, z] max= (min(q4 in 0 .. 2: B[x % 5, y]) + bf16(r3))
f1[x] = max(q2 in 1 .. 5: select((x % 3 == 0), A[x, q2 % 3, clamp(q2 + -1, 0, W - 1)], wrap(A)[1, q2 / 3, q2]))
f1[r1] = f1[r1 - 2] * 0.5 + select((f0[r1, r1, r1] > f0[r1, 3 * r1, r1 / 2]), wrap(A)[H - 1 - r1, H - 1 - r1, r1], f0[r1 / 2, r1 / 3, clamp(i64(round(B[r1, r1 + 2])), 0, H - 1)])

schedule auto_avx512 for avx512 {
    f1.vectorize(x, 32)
    f1_max.compute_root().vectorize(x, 32)
    f1_max.update.split(x, xo, xi, 256).reorder(xo, q2, xi).vectorize(xi, 32).unroll(xi)
    f1_max.update.unroll(q2, 2).parallel(xo)
    f0.compute_root().vectorize(z, 32).parallel(x)
    f0.update.split(z, zo, zi, 512).reorder(x, y, zo, r3, zi).vectorize(zi, 32).unroll(zi)
    f0.update.unroll(r3, 2).parallel(x)
    f0_min.compute_at(f0.update, zo).vectorize(y, 32)
    f0_min.update.split(y, yo, yi, 32).reorder(x, yo, q4, yi).vectorize(yi, 32).unroll(q4, 2)
}
