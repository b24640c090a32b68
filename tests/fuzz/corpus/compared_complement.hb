# Broke: gcc warned of a comparison with all bits of a byte turned round.
# sizes: W=9 target: c fixed: 0 seed: 0
size W
input A: f64[W + 3]
input B: f64[W + 4, 5]
output f0: i64[W]
require 9 <= W, "too small"
reduce r1 in 0 .. min(i + 0, 4)
f0[i] = i64(A[i])
f0[i] += select((u8(A[i + r1]) > (u8(B[i, 3]) ^ u8(255))), ((i64(B[r1, r1 % 5]) | i64(A[i + 3])) * u8(A[i])), ((i64(A[i]) + i64(A[i])) + (i64(A[i]) + i64(A[i]))))
