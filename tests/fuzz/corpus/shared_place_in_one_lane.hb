# Broke: vectorizing: in a vector of one lane a place that is computed under its condition alone was read anyway.
# sizes: W=1 target: avx512 fixed: 0 seed: 0
size W
input B: f32[W, W]
output f3: bool[W]
reduce r1 in W
reduce r2 in 2 .. W - 1
reduce r3 in W
f0[n, c, w] = false
f0[n, c, w] ^= (not (f32(n) != f32(1.0))) where ((w >= 1) or (n + 3 <= n))
f1[n, c, w] = (w + 1 <= n)
f1[n, r2, w] = (f1[n, r2 - 2, w] == f0[n, w, r2 / 3])
f3[i] = false
f3[i] ^= (i64(f1[i, i - 1, i - 3]) > i64(B[i, r1])) where (i + 3 <= r1)
schedule s for avx512 {
    f3.parallel(i, 5)
    f3.update.atomic().vectorize(r1, 4).vectorize(i, 1, tail = exact).unroll(r1, 3, tail = mask)
    f1.in(f3).compute_at(f3.update, i)
}
