size   M, N
input  A: f32[M, N]
output P: f32[M, N]
reduce k in N
m[i] = -inf
m[i] max= A[i, k]
e[i, j] = exp(A[i, j] - m[i])
s[i] = 0
s[i] += e[i, k]
P[i, j] = e[i, j] / s[i]
schedule rows for cuda {
    P.gpu_blocks(i).split(j, jo, jt, 64).gpu_threads(jt)
    m.compute_at(P, i)
    m.update.split(k, ko, kt, 64).rfactor(kt, u)
    m_u.compute_at(P, i).gpu_threads(u)
    m_u.update.reorder(ko, u).gpu_threads(u)
    s.compute_at(P, i)
    s.update.split(k, ko, kt, 64).rfactor(kt, u)
    s_u.compute_at(P, i).gpu_threads(u)
    s_u.update.gpu_threads(u)
}
schedule threads for cuda {
    P.split(i, io, it, 32).gpu_blocks(io).gpu_threads(it)
    m.compute_at(P, it)
    s.compute_at(P, it)
}
