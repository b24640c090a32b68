# Broke: a statement that fills arrays of its own alone, some times over, was to be a function, and had no name.
# sizes: H=4 target: avx2 fixed: 1 seed: 0
size H
input A: f32[2 * H + 5]
output f2: f32[H, H]
reduce r1 in H
reduce r4 in 1 .. H + 1
f0[x] = u32(A[x % 4])
f1[n, c, w] = u32(0)
f1[n, c, w] min= ((u32(n) * 10) + u32(r4)) where (A[n + c] < f32(f0[n]))
f2[x, y] = A[x % 3]
f2[x, y] min= max(select((let t2 = u32(x) in t2 < f1[x, y, max(min(r1, r1) - 1, r1) % 5]), (A[x / 2] + pi), inf), (let q3 = y in (f32(f1[clamp(i64(f0[x - 3]), 0, 5), x, H - 1 - r1]) ** 3))) where (y % 3 == 1)
schedule s for avx2 {
    f2.pipeline(y, 3).vectorize(x, 3, tail = guard)
    f2.update.parallel(x).reorder(y, x).unroll(y, 4, tail = exact)
    f1.compute_at(f2.update, y_u)
    A.in(f0).compute_root()
}
