size N
input A: f32[N]
output B: f32[1]
reduce r in N
B[i] = 1
B[i] = B[i] * 0.5 + A[r]
schedule s for avx512 {
    B.update.vectorize(i, 8)
}
