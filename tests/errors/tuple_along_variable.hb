size N, M
input A: f32[N, M]
output m: f32[N]
output i: i32[N]
reduce r in M
(m[x], i[x]) = (0, 0)
(m[x], i[x]) = (m[x] + f32(i[x + 1]), i[x] + 1)
