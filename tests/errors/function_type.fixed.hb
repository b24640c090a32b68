size N
input A: f32[N]
input B: i32[N]
output O: f32[N]
def avg(a, b) = (a + b) / 2
def twice(x, y) = avg(x, y) * 2
O[i] = twice(A[i], f32(B[i]))
