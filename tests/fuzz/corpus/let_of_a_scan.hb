# Broke: the type of a Func that begins with a literal and goes on with a `let` was not found, and nobody said so.
# sizes: N=9 | N=1 target: c fixed: 0 seed: 2
size N
input A: f32[N]
output O: f32[N]
reduce t in 1 .. 5
z[s, x] = 0
z[t, x] = let a = z[t - 1, x] in let b = a + a in a * 0.25 - b + A[x]
O[x] = z[4, x]
