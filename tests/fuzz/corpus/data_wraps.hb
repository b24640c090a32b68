# Broke: comparisons of i64 data were put in order as if their sums could not wrap.
# sizes: W=1 | W=5 target: avx2 fixed: 0 seed: 0
size W
input A: i64[W]
input B: i64[W]
output f: bool[W]
f[x] = (B[x] % 16) * (i64(10) % 16) < (A[x] + A[x]) + (A[x] + A[x])
