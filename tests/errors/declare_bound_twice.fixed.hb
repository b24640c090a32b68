size N
input Q: i32[N]
output B: f32[N]
bound Q in 0 .. 4
B[i] = f32(Q[i])
