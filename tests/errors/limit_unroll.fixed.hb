size N
input A: f32[N, 256, 256]
output B: f32[N, 256, 256]
B[n, i, j] = A[n, i, j]
schedule s for c {
    B.unroll(i, 8).unroll(j, 8)
}
