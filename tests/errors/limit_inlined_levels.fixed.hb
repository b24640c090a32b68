size   N
input  A: f32[N]
output O: f32[N]

f[0][x] = A[clamp(x, 0, N - 1)]
g[x] = f[0][x]
for l in 1 .. 24 { f[l][x] = select(f[l - 1][x] < 0, f[l - 1][x + 1], f[l - 1][x]) + g[x] }
O[x] = f[23][x]

schedule s for c { g.compute_root(); f[0 ..].compute_root() }
example { N = 40; A = random(1) }
