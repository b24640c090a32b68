size   N
param J: i32 = 4
input  A: f32[N]
output O: f32[N]

g[0][x] = A[x]
for l in 1 .. J { g[l][x] = g[l - 1][x] }
O[x] = g[0][x]
