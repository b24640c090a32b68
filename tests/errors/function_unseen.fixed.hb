size N
input A: f32[N + 1]
output O: f32[N]
def next(f, i) = f[i + 1]
O[i] = next(A, i)
