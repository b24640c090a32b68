# Whether a number is 0 differs from step to step: it does not stay false.
size   N, T
input  A: f32[T, N]
output v: f32[N]
reduce t in T
(v[i], on[i]) = (0, true)
(v[i], on[i]) = (select(A[t, i] > 0, v[i] + A[t, i], v[i]), A[t, i] > 0) while t: on[i]
