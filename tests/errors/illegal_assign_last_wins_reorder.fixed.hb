size N
input A: f32[N, N]
output B: f32[2 * N]
reduce r in N, s in N
B[i] = 0
B[r + s] = A[r, s]
schedule s for avx512 {
    B.update.reorder(r, s)
}
