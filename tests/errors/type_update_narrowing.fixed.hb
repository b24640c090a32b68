size N
input A: f32[N]
output B: i32[N]
reduce r in N
B[i] = 0
B[i] += i32(A[r])
