size N
input A: f32[N]
output O: f32[N]
def avg(a, b) = (a + b) / 2
def left(f)[x] = f[x - 1]
O[i] = avg(A[i]) + avg[i] + left(A) + avg(A[i], 1)[i] + left(A)[i, i] + left(A[i])[i]
