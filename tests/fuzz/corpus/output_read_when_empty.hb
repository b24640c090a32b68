# Broke: bounds: an output read at `clamp(x, 0, W - 1)` was computed from -1 on when W is 0.
# sizes: W=33 | W=0 target: avx2 fixed: 0 seed: 0
size W
input A: u32[W + 2]
output g: u32[W]
output f: u32[W + 2]
f[x] = A[x]
g[x] = f[clamp(x, 0, W - 1)] + f[x]
