# Broke: what a condition reads was narrowed by the condition.
# sizes: W=1 | W=9 target: avx512 fixed: 0 seed: 0
size W
input A: f32[W]
output f: f32[W]
g[n] = A[n] + 1
f[x] = 0.0
f[x] += 1 where g[x] > 0 and x > 4
schedule s for avx512 { g.compute_root() }
