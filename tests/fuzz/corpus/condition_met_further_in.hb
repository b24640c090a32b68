# Broke: bounds: a Func computed in loops where the condition of its reader does not hold read beyond
# what is needed outside.
# sizes: W=5 H=1 | W=3 H=7 | W=0 H=2 target: c fixed: 0 seed: 0
size W, H
input A: i32[H]
output f: i32[W]
reduce y in H
h[x] = A[x] + 1
g[x] = A[x] + h[x]
f[x] = 0
f[x] += g[x] where y >= x
schedule s for c { h.compute_root(); g.compute_at(f.update, y) }
