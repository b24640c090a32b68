size N, M
input A: f32[N, M]
output m: f32[N]
output i: i32[N]
(m[x], i[x]) = (A[x, 0], 0)
schedule s for c { i.vectorize(x, 8) }
