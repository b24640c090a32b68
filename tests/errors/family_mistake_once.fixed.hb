size   N
input  A: f32[N]
output O: f32[N]

g[0][x] = A[x]
for l in 1 .. 4 { g[l][x] = g[l - 1][x] * 2 }
O[x] = g[3][x]
