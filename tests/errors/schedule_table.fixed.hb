size N
input A: f32[N]
output B: f32[N]
table W: f32[2] = [1, 2]
B[i] = A[i] * W[0]
schedule s for c { B.unroll(i, 4) }
