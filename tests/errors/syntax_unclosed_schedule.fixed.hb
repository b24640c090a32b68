size N
input A: f32[N]
output B: f32[N]
B[i] = A[i]
schedule s for c {
    B.unroll(i, 4)
}
