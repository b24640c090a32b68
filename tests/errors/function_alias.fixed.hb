size N
input A: f32[N]
output O: f32[N]
def avg(a, b) = (a + b) / 2
B[x] = avg(A[x], A[x])
O[i] = B[i]
