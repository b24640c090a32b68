size N, M
input A: f32[N, M]
output m: f32[N]
(m[x], m_[x]) = (A[x, 0], 0)
