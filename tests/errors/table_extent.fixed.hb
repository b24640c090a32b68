size N
output B: f32[N]
table W: f32[1] = [1]
B[i] = W[0]
