size   N
input  A: f32[N]
output O: f32[N]

g_one[x] = A[x]
for l in 0 .. 2 { g[l][x] = A[x] }
for a in 0 .. 2, b in 0 .. 2 { h[a, b][x] = A[x] }
H[1][x] = A[x]
O[x] = g[0][x] + g_one[x] + h[0, 0][x]
