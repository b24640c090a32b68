# Broke: the oracle, InternalError: the condition of a scan that has no steps read a Func nobody needs.
# sizes: W=1 | W=0 | W=5 target: avx2 fixed: 0 seed: 0
size W
input A: f32[W]
output f: f32[W]
reduce r in 2 .. W
g[x] = A[x]
f[x] = A[x]
f[r] = max(f[r - 2], 0.1) where g[r] != A[r - 1]
