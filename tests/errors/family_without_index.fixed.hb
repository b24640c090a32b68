size   N
input  A: f32[N]
output O: f32[N]

for l in 0 .. 2 {
    g[l][x] = A[x]
    t[l][x]    = A[x] + f32(l)
}
g[2][y] = 1
O[x] = g[0][x] + t[0][x]
