size N
input Q: i32[N]
input A: f32[Q[0]]
output B: f32[N]
B[i] = 0
