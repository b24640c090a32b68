size K
input A: f32[K, K]
output O: f32[K]
output P: f32[K]
reduce i in K
O[i] = sum(i: A[i, i])
P[k] = sum(k in 0 .. K: A[k, k])
