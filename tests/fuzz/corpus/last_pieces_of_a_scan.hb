# Broke: scans: where pieces are split again, all last pieces came after the others, also with their loops fused.
# sizes: W=13 H=1 target: avx512 fixed: 1 seed: 0
size W, H
input A: bool[W + 6]
input N: u32[W + 6]
bound N in 0 .. W
output f3: f32[W, W + 6]
reduce r1 in 6
reduce r4 in 1 .. W + 1
reduce r6 in 2 .. W + 8
f0: f32[x, y] = f32(0)
f0[r6, y] = (-f32(A[y])) - f0[r6 - 2, y] where (f32(N[y]) != f32(N[y]))
f1: f32[x] = (let t5 = f0[x - 2, x % 5] in (f32(N[N[x]]) + t5))
f1[r4] = f1[r4 - 1] * 0.5 + (f0[r4 / 2, r4] * f32(N[r4 % 4]))
f3: f32[n, c] = f32(0)
f3[n, 0] += (let t3 = (let t2 = f1[n / 2] in (f1[W - 1 - n] + t2)) in (abs(f0[n - 2, n + 3]) + t3)) where (not (f32(2.0) < f0[n, n]))
f3[n, r1] = f0[n + r1 + 3, r1] where (r1 + 1 <= H)
schedule s for avx512 {
    f3.reorder(c, n)
    f3.update(1).specialize(H >= 8)
    f1.compute_at(f3.update, n)
    f1.split(x, xo1, xi2, 7, tail = mask).unroll(xi2)
    f1.update.split(r4, ro3, ri4, 5, tail = mask).unroll(ri4, 2).fuse(ro3, ri4, fu5)
    f0.unroll(y, 2, tail = guard)
}
