size   N
input  A: f32[N]
output O: f32[N]

for l in 0 .. 2 { input B: f32[N] }
O[x] = A[x]
