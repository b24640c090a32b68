size   N
input  A: f32[N]
output O: f32[N]

g[0][x]    = A[x]
g[5][x] = A[x]
for l in 1 .. 3 { for m in 1 .. 2 { h[l, m][x] = A[x] } }
i[3][x] = A[x]
O[x] = g[0][x]
