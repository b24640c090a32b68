size M, N
input A: f32[M]
output B: f32[M]
B[i] = f32(N)
require M > 1, "more"
B[i] += A[i]
schedule s for c {
    B.unroll(i, 4)
    B.parallel(i)
}
example { M = 2; N = 1 }
