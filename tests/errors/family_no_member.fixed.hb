size   N
param  J: i32 = 3
input  A: f32[N]
output O: f32[N]

g[0][x] = A[x]
for l in 1 .. J { g[l][x] = g[l - 1][x] + g[l - 1][x] }
O[x] = g[2][x] + A[x]

schedule s for c { g[0 ..].compute_root() }
