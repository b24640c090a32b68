size T
input A: f32[T]
output O: f32[T]
reduce t in T
O[s] = A[s]
O[t] = O[T - 1 - t] + A[t]
schedule s for avx2 { O.vectorize(s, 8) }
