# Broke: two extents that only their type bounds made an array of 8 GiB.
# sizes: W=1 target: avx512 fixed: 0 seed: 0
size W
input A: u16[W + 7, W + 6, W + 7]
output f2: i32[4]
reduce r1 in 1 .. 4
reduce r2 in 6
reduce r3 in W
reduce r5 in W
f0[x, y] = A[x, x, x]
f0[x, y] += (((A[x, x, x] + A[x, x, x]) + (A[x, x, x] + A[x, x, x])) + u16(r5))
f1: u16[x] = A[x + 3, x / 3, x / 2]
f2: i32[x] = (let t4 = i32(f1[x]) in (i32(x) + t4))
f2[3 - r1] = max(f2[3 - r1 + 1], ((~i32(A[r1, clamp(r1 + 2, 0, W - 1), 2 * r1])) - (A[r1, r1 + 1, r1 / 2] - f0[r1 % 2, r1])))
f2[x] ^= i32(min((f1[x / 3] / 3), (u16(7) ^ f0[clamp(i64(A[x, r2, r3]), 0, W - 1), clamp(i64(f1[x]), 0, W - 1)])))
