size N
input I: i64[N]
input A: f32[N]
output O: f32[N]
q[x] = let a0 = I[x] in let a1 = a0 + a0 in let a2 = a1 + a1 in let a3 = a2 + a2 in let a4 = a3 + a3 in let a5 = a4 + a4 in let a6 = a5 + a5 in let a7 = a6 + a6 in let a8 = a7 + a7 in a8
O[x] = let a9 = q[x] in let a10 = a9 + a9 in let a11 = a10 + a10 in let a12 = a11 + a11 in let a13 = a12 + a12 in let a14 = a13 + a13 in let a15 = a14 + a14 in let a16 = a15 + a15 in A[clamp(a16, 0, N - 1)]
schedule s for c { q.compute_root() }
