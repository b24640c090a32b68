# Broke: memory stored outside of an empty loop had a negative size.
# sizes: H=1 | H=6 | H=0 target: c fixed: 0 seed: 0
size H
input A: i64[H]
output f: i64[5, H]
reduce r in 2 .. H
g[x, y] = A[y] + i64(x)
f[i, j] = 0
f[i, r] = f[i, r - 2] + g[i / 2, r] + g[i / 2, r - 1]
schedule s for c { g.compute_at(f.update, i).store_root() }
