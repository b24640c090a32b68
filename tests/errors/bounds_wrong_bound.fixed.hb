size N
input Q: i32[N]
output B: f32[N]
table W: f32[4] = [1, 2, 3, 4]
bound Q in 0 .. 4
B[i] = W[Q[i]]
