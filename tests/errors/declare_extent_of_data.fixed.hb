size N, M
input Q: i32[N]
input A: f32[M]
require M <= N, "as Q[0] says"
output B: f32[N]
B[i] = 0
