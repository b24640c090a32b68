# Broke: access_boxes: the element that a condition compares with stood in the bounds of what is read.
# sizes: N=11 target: avx512 fixed: 0 seed: 0
size N
input A: i32[N]
input B: i32[N]
output O: i32[N]
output P: i32[N]
g[x] = B[clamp(x, 0, N - 1)] * 2
reduce r in 8, q in 0 .. clamp(i64(A[N - 1]), 0, 6)
O[x] = B[x]
O[x] += g[r + 2] where r < i64(A[0])
P[x] = B[x]
P[x] ^= g[q + 2]
require 1 <= N
schedule s for avx512 {
    g.compute_root()
}
