# Broke: an index clamped from an element at constant coordinates stood in the bounds of its Func as
# itself: an Access after lowering.
# sizes: W=1 | W=4 target: avx2 fixed: 0 seed: 0
size W
input A: i16[W + 2]
output f1: i16[W]
reduce r in 3
f0[x, y] = A[x]
f0[x, y] += A[y] + i16(r)
f1[x] = f0[clamp(i64(f0[0, 1]), 0, W - 1), x]
