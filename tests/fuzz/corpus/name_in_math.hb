# Broke: the expansion of exp bound `y`, which was the name of a loop.
# sizes: W=3 H=9 target: avx2 fixed: 0 seed: 0
size W, H
input A: f32[W, H]
output f: f32[W, H]
f[y, x] = exp(A[y, x] * 0.1)
schedule s for avx2 { f.vectorize(x, 8) }
