size N
input Q: u8[N]
output B: f32[N]
table W: f32[200] [x] = x
B[i] = W[Q[i]]
