# Broke: the check of a `bound` refused an empty input.
# sizes: W=7 H=8 | W=0 H=5 target: avx2 fixed: 0 seed: 0
size W, H
input N: u16[W]
input A: f32[W]
output f: f32[H + W]
bound N in 0 .. W
reduce r in W
f[y] = -1.5
f[N[r]] *= A[r]
