size K
input A: f32[K, K]
output O: f32[K]
output P: f32[K]
reduce r in K
O[i] = sum(r: A[i, r])
P[k] = sum(q in 0 .. K: A[k, q])
