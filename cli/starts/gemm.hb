hbc 1
# A product of matrices. What is computed comes first; how, in the schedule, changes no result.
size   M, N, K
input  A: f32[M, K]
input  B: f32[K, N]
output C: f32[M, N]

# A sum has a value to begin with and an update, done for each k.
reduce k in K
acc[i, j]  = 0
acc[i, j] += A[i, k] * B[k, j]
C[i, j]    = acc[i, j]

# Tiles of 4 x 16 sums stay in registers; rows of tiles go to threads. `hbc compile --emit loops` shows it.
schedule fast for avx2 {
    C.tile(i, j, io, jo, ii, ji, 4, 16, tail = shift).vectorize(ji, 8).unroll(ji).unroll(ii).parallel(io)
    acc.compute_at(C, jo).store_in(registers).vectorize(j, 8).unroll(i).unroll(j)
    acc.update.reorder(k, i, j).vectorize(j, 8).unroll(i).unroll(j)
}

# What `hbc run` and `hbc bench` use.
example { M = 256; N = 256; K = 256; A = random(1, -1, 1); B = random(2, -1, 1) }
