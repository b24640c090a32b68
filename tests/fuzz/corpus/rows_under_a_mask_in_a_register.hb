# Broke: the code took lanes of a mask that is in a register, which nothing binds any more.
# sizes: W=3 target: avx512 fixed: 0 seed: 0
size W
input A: u16[1, 1]
output f1: f32[W, W]
reduce r1 in 1 .. W + 1
f0[i, j] = zero_edge(A)[3 * i, j + 1]
(f1[x, y], g1[x, y]) = (0, f32(x))
(f1[x, y], g1[x, y]) = select(f1[x, y] < f32(g1[x, y]), (((f1[x, y] * (select((u16(9) < f0[x / 2, y / 3]), (f32(y) + 1e-3), f32(f0[2 * x + 3, W - 1 - y])) + f32(r1))) + f32(g1[x, y])), select(f1[x, y] > f32(1), g1[x, y], f32(2))), (f1[x, y], g1[x, y])) where f1[x, y] < f32(g1[x, y])

schedule auto_avx512 for avx512 {
    f1.vectorize(y, 16).parallel(x)
    f1.update.reorder(x, r1, y).vectorize(y, 16).parallel(x)
    f0.compute_root().split(j, jo, ji, 32).reorder(i, jo, ji).vectorize(ji, 32).parallel(i)
}
