# Broke: vectorizing: loads below a sum over inner lanes were not masked in the last piece.
# sizes: W=7 | W=1 | W=13 target: avx512 fixed: 0 seed: 0
size W
input A: i32[W, 4]
output f: i32[W]
reduce r in 4
f[x] = 0
f[x] += A[x, r]
schedule s for avx512 { f.update.atomic().vectorize(r).vectorize(x, 3) }
