size N
input A: u8[N]
input X: i8[N]
output B: i32[N]
B[i] = i16(A[i]) * i16(X[i])
