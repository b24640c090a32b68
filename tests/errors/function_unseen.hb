size N
input A: f32[N]
output O: f32[N]
def next(f) = f[i + 1]
O[i] = next(A)
