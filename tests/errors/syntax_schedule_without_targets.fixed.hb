size N
input A: f32[N]
output B: f32[N]
B[i] = A[i]
schedule fast for avx512, avx2 { B.unroll(i, 4) }
