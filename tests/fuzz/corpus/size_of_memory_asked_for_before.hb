# Broke: a name for a size stayed where its memory had been, and nothing used it.
# sizes: W=1 H=1 target: avx512 fixed: 0 seed: 0
size W, H
input A: f32[H + 3 * W + 5]
output f2: f32[W, W, 2]
reduce r1 in W
reduce r2 in H
reduce r3 in W
reduce r4 in W
reduce r7 in 1 .. H + W + 1
f0[n, c] = f32(0)
f0[r7, c] = max(f0[r7 - 1, c], select((c > 2), A[min(c, 2)], A[H + 3 * W + 4 - c]))
f1[x] = sqrt(abs(f32(0.1)))
f1[x] min= log(((f0[x, 3 * r3 + 2] - 1.0) - (let t6 = f0[x, (let q5 = i64(f0[x, r3]) in clamp(q5, 0, 2))] in (f0[x, W - 1 - r3] + t6))))
f2[n, c, w] = (A[n % 3] + pi)
f2[n, c, w] *= select((f32(w) != A[n]), select((w + 1 <= r1), f0[clamp(i64(abs(f0[n, c]) + 0.5), 0, H - 1), select(c < c, c % 5, 4)], f1[clamp(n + 1, 0, W - 1)]), clamp(f1[n / 2], 100.0, f0[n + 1, clamp(i64(f1[n - 3]), 0, H - 1)]))
schedule s for avx512 {
    f2.tile(n, c, ao1, bo3, ai2, bi4, 3, 8)
    f2.update.vectorize(w, 1, tail = mask).rfactor(r1, u5)
    f2_u5.reorder(u5, n).reorder(u5, w, c, n).pipeline(n, 2).reorder(c, u5, w, n).split(w, wo6, wi7, 16, tail = guard)
    f2_u5.update.tile(n, c, ao8, bo10, ai9, bi11, 4, 8, tail = guard)
    f1.compute_at(f2_u5.update, u5).store_root()
    f1.split(x, xo12, xi13, 2, tail = guard)
    f1.update.atomic().vectorize(r3, 1, tail = guard)
    f0.compute_at(f2_u5.update, ao8)
    f0.specialize(W >= 8)
}
