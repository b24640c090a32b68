size N, M
input A: f32[N, M]
output m: f32[N]
output i: i32[N]
(m_[x], i_[x]) = (0, 0)
(m[x], i[x]) = (A[x, 0], 1)
