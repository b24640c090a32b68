size N, M
input A: f32[N, M]
output m: f32[N]
output i: i32[N]
reduce t in N - 1
(m[x], i[x]) = (0, 0)
(m[t], i[t]) = (m[t] + f32(i[t + 1]), i[t] + 1)
