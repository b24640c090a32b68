size N
input A: f32[N]
output B: f32[N]
B[i] = A[i]
schedule fast { B.unroll(i, 4) }
