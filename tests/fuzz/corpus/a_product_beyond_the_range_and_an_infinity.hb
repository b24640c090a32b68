# Broke: a product that overflows, less infinity, is NaN; fused, it is -infinity: the oracle was certain of the one.
# sizes: W=1 | W=0 | W=33 target: avx2 fixed: 0 seed: 0
size W
input B: f32[W, W]
output f0: f32[W, W]
reduce r1 in 2 .. W
f0[x, y] = f32(0)
f0[r1, y] = (f32(y) * B[y, r1]) - f0[r1 - 2, y]
