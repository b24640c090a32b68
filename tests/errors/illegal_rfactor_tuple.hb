size N, M
input A: f32[N, M]
output m: f32[N]
output i: i32[N]
reduce r in M
(m[x], i[x]) = (0, 9)
(m[x], i[x]) = select(A[x, r] > m[x], (A[x, r], i32(r)), (m[x], i[x]))
schedule s for c { i.update.rfactor(r, u) }
