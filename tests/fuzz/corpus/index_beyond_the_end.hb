# Broke: vectorizing: loads in the index of a masked load were not masked.
# sizes: W=21 target: avx2 fixed: 0 seed: 0
size W
input A: i32[W]
input B: f32[W]
output f: f32[W]
f[x] = B[clamp(i64(A[x]), 0, W - 1)]
schedule s for avx2 { f.vectorize(x, 16) }
