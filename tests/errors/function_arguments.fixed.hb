size N
input A: f32[N]
output O: f32[N]
def avg(a, b) = (a + b) / 2
def left(f)[x] = f[max(x - 1, 0)]
B = left(A)
O[i] = avg(A[i], A[i]) + B[i] + avg(A[i], 1) + left(A)[i]
