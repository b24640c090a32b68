size   N
input  A: f32[N]
output O: f32[N]

for l in 0 .. 2 {
    g[l][x] = A[x]
    t[x]    = A[x] + l
}
g[y] = 1
O[x] = g[0][x] + g + t[x]
