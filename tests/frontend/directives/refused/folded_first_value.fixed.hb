size   W, T
input  A: f32[W]
output O: f32[W]
require W >= 2
reduce t in 1 .. T, x in 1 .. W - 1
u[s, i] = A[i]
u[t, x] = u[t - 1, x - 1] + u[t - 1, x + 1]
O[i] = u[T - 1, i]
schedule s for avx512 {
    u.fold_storage(s, 2)
}
