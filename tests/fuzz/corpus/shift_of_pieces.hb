# Broke: lowering: the full pieces of a masked split may be fewer than a shifted factor of its outer half.
# sizes: W=50 | W=3 | W=64 target: avx2 fixed: 0 seed: 0
size W
input A: f32[W]
output f: f32[W]
f[x] = A[x]
schedule s for avx2 { f.vectorize(x, 16).unroll(x, 4, tail = shift) }
