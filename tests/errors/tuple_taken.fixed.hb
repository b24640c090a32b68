size N, M
input A: f32[N, M]
output m: f32[N]
(m[x], a[x]) = (0, 0)
