# Broke: bounds: a stored window was computed where the condition of its reader does not hold, from what
# had not been computed.
# sizes: W=4 H=8 | W=12 H=1 | W=0 H=2 target: c fixed: 0 seed: 0
size W, H
input A: u16[W, H]
output f: u16[W]
reduce y in H
h[x, y] = A[x, y] + 1
g[x, y] = h[x, y] + 2
f[x] = 0
f[x] += g[x, y] where y <= x and y > x - 3
schedule s for c { g.store_root().compute_at(f.update, y); h.compute_at(f.update, x) }
