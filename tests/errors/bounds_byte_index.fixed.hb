size N
input Q: u8[N]
bound Q in 0 .. 200
output B: f32[N]
table W: f32[200] [x] = x
B[i] = W[Q[i]]
