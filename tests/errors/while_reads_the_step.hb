# Whether a number is 0 differs from step to step: it does not stay false.
size   N, T
input  A: f32[T, N]
output v: f32[N]
reduce t in T
v[i] = 0
v[i] = v[i] + A[t, i] while t: A[t, i] > 0
