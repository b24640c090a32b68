size   W, T
input  A: f32[W]
output O: f32[W]
require W >= 2
reduce x in 1 .. W - 1, t in 1 .. T
u[s, i] = A[i]
u[t, x] = u[t - 1, x - 1] + A[x]
O[i] = u[T - 1, i]
schedule s for avx512 {
    u.compute_root()
}
