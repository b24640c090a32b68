# Broke: oracle: an update under a condition read what it stores where the condition is false.
# sizes: W=1 target: avx512 fixed: 0 seed: 0
size W
input A: i64[W + 4, 3 * W + 5, W + 8]
output f3: i64[W]
reduce r1 in W
reduce r2 in 4
reduce r3 in 4
reduce r4 in W
reduce r5 in 3
f0[n] = A[n + 1, n + 1, n + 1]
f0[r5] = A[clamp(i64(A[r5, r5, r5 + 2]), 0, W - 1), r5 + 2, r5 + r5 + 3] where (r5 % 3 == 0)
f1[x, y] = (i64(y) - f0[x - 1])
f1[x, y] max= ((f0[clamp(x + -2, 0, W - 1)] / 2) & (A[3 * x + 1, clamp(i64(A[x + 2, y + 3, r3]), 0, W - 1), r3 + 2] / f0[x / 3]))
f3[x] = f1[0, x - 3]
f3[x] &= (i64(x) % clamp(i64(r2), 9, A[x, 3 * r1, r2 / 2]))
