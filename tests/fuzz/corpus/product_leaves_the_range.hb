# Broke: the oracle: a product within range that overflows in the order of the loops.
# sizes: W=8 | W=1 target: c fixed: 0 seed: 0
size W
output f: f32[W]
reduce r in 4
table T: f32[4] = [1e30, 1e20, 1e-30, 1e-10]
f[x] = 1.0
f[x] *= T[r]
