# Broke: what a u64 holds beyond i64 was taken to be above 0 as an index.
# sizes: W=1 target: avx512 fixed: 0 seed: 0
size W
input A: u64[W, W]
output f2: u64[W]
f2[x] = (((A[x, clamp(i64(A[x, x]), 0, W - 1)] + A[x, x]) + (A[x, x] + A[x, x])) + ((A[x, x] + A[x, x]) + (A[x, x] + A[x, x])))
