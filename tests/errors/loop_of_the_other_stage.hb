size M, N
input A: f32[M, N]
output O: f32[M, N]
T[y, x] = A[y, x] * 2
O[y, x] = T[y, x] + 1
schedule s for avx2 {
    T.compute_at(O, z)
}
