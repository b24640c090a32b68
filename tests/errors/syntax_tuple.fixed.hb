size N, M
input A: f32[N, M]
output m: f32[N]
output i: i32[N]
reduce r in M
m[x] = -inf
m[x] max= A[x, r]
i[x] = 2147483647
i[x] min= i32(r) where A[x, r] == m[x]
