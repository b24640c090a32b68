# Broke: vectorizing: loads in the index of a store were not masked in the last piece.
# sizes: W=11 target: avx512 fixed: 0 seed: 0
size W
input A: i32[W]
input B: i32[W]
output f: i32[W]
reduce r in W
f[x] = 1
f[B[r] % 4] *= A[W - 1 - r]
require 5 <= W
schedule s for avx512 {
    f.update.rfactor(r, u)
    f_u.compute_root()
    f_u.update.vectorize(u, 4).unroll(u, 4).reorder(u_u, u, u_v)
}
