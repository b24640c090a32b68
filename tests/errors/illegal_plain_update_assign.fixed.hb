size N
input A: f32[N]
input p: i32[N]
output B: f32[N]
bound p in 0 .. N
reduce r in N
B[i] = 0
B[i64(p[r])] = A[r]
schedule s for avx512 {
    B.vectorize(i, 8)
}
