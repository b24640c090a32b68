size N, M
input A: f32[N, M]
output m: f32[N]
output i: i32[N]
(m[x], i[x]) = (A[x, 0], i32(A[x, 0]))
