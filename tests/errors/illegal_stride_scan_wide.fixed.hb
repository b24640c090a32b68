size N
input A: f32[N + 4]
output B: f32[N + 4]
reduce r in 4 .. N + 4
B[i] = A[i]
B[r] = B[r - 4] + A[r]
schedule s for avx512 {
    B.update.vectorize(r, 4)
}
