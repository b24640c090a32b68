size M N
input A f32[M]
output B: f32[M]
B[i] = A[i] +
require M >
B[i] += (A[i]
schedule s for c {
    B.unroll(i 4)
    B.vectorize(i, )
    B.parallel(i)
}
example { M = 1 }
