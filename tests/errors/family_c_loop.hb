size   N
input  A: f32[N]
output O: f32[N]

for (int i = 0; i < N; i++) O[i] = A[i]
