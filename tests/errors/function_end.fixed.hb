size N
input A: f32[N]
output O: f32[N]
def left(f)[x] = f[x - 1]
O[i] = left(clamp_edge(A))[i]
