# Values looked up: a table of rows, by an index for each position.
size  N, D, V
input E: f32[V, D]
input at: i32[N]
bound at in 0 .. V
output O: f32[N, D]

O[i, d] = E[at[i], d] * 2

example { N = 4096; D = 256; V = 1000; E = random(1); at = random(2) }
