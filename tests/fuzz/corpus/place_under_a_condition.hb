# Broke: the oracle read where an update goes to also at points where its condition does not hold.
# sizes: K=7 target: c fixed: 0 seed: 0
size K
input A: f32[5, 5]
output f3: f32[K + 2]
reduce r1 in K
reduce r2 in 2
f0[x] = i32(10)
f0[x] max= (i32(A[x % 5, r2 + 3]) * i32(5))
f3[x] = f32(0)
f3[clamp(i64(f0[r1]), 0, 1)] *= zero_edge(A)[r1, 2 * r1] where (r1 < 3)
