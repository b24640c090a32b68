# Broke: gcc took an array for unfilled whose loop runs at least once by a check of the sizes.
# sizes: W=1 H=1 | W=67 H=48 | W=67 H=67 | W=23 H=2 target: avx2 fixed: 0 seed: 2
size W, H
input A: f32[W + 2, 2]
output f3: f32[2, 2]
output f0: f32[2, 6, 2]
reduce r1 in H
f0: f32[x, y, z] = f32(0)
f0[0, y, z] += (f32(inf) - 2.0)
f3[x, y] = sin(f0[x, clamp(i64(abs(f0[x, y, y]) + 0.5), 0, 5), 1])
f3[x, y] min= (let q2 = r1 in (sqrt(A[x / 2, y]) - A[clamp(y + 0, 0, W - 1), y]))
schedule s for avx2 {
    f3.split(y, yo1, yi2, 1, tail = shift)
    f3.update.unroll(r1, 4)
    A.in(f3).compute_at(f3.update, r1_u)
    f0.unroll(z, 2, tail = mask).fuse(y, z, fu3)
}
