size   N
input  A: f32[N]
output O: f32[N]

g[0][x]    = A[x]
g[1, 2][x] = A[x]
for l in 0 .. 2 { for l in 0 .. 2 { g[l][x] = A[x] } }
i[k][x] = A[x]
O[x] = g[0][x]
