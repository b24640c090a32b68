# Broke: gcc warned of memory that is set but not used, once a condition is known.
# sizes: W=1 target: avx2 fixed: 0 seed: 0
size W
input B: i8[1]
output f: i8[W]
reduce r in 1
f[x] = i8(0)
f[x] += B[r] where not (r % 3 == 0)
schedule s for avx2 { B.in(f).compute_root() }
