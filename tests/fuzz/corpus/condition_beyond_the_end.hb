# Broke: vectorizing: loads in a `where` were not masked in the last piece.
# sizes: W=23 | W=11 target: avx512 fixed: 0 seed: 4
size W
input B: f32[W, W]
output f: f32[W]
reduce r in W
f[x] = 1.0
f[x] += B[x, r] where B[x, r] > 0.5
schedule s for avx512 { f.update.vectorize(x, 2) }
