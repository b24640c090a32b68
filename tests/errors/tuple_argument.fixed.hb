size N, M
input A: f32[N, M]
output m: f32[N]
output i: i32[N]
def larger((p, i), (q, j)) = select(p > q, (p, i), (q, j))
reduce r in M
(m[x], i[x]) = (lowest, 0)
(m[x], i[x]) = larger((A[x, r], i32(r)), (m[x], i[x]))
(m[x], i[x]) = larger((A[x, r], i32(r)), (m[x], i[x]))
