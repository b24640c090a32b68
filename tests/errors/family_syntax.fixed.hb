size   N
input  A: f32[N]
output O: f32[N]

for l in 0 .. 2 { g[l][x] = A[x] }
O[x] = A[x]
