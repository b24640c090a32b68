# Broke: a tuple's step in vectors of bf16: the vector that is named was made of f32, in one that no register has.
# sizes: W=37 target: avx512 fixed: 0 seed: 0
size W
output p: bf16[W]
output q: bf16[W]
input A: bf16[W]
input B: bf16[W]
reduce r in 4
(p[x], q[x]) = (A[x], B[x])
(p[x], q[x]) = (q[x] + A[x], p[x] + bf16(r))
schedule s for avx512 { p.vectorize(x, 32); p.update.vectorize(x, 32) }
