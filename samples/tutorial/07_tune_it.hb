# 7. Tune it: schedules are measured, and the best is kept.
#
# What hbc makes of itself rests on costs that it estimates. `hbc tune` makes many schedules, measures them on
# this machine, compares what each computes with the oracle, and writes the best here:
#
#     hbc run 07_tune_it.hb
#     hbc tune 07_tune_it.hb --trials 16 --time 60 --write
#     hbc bench 07_tune_it.hb
#
# The first says what it made. The second leaves a `schedule tuned_...` with a comment: the machine, the
# date, the sizes, how fast. It is text like any other, to read, edit and verify; tuned again, it is replaced:
#
#     hbc verify 07_tune_it.hb
#
# tries it at other sizes than those it was tuned at. For several layers at once write their sizes into a
# table, `hbc tune 07_tune_it.hb --layers sizes.csv`. docs/tuning.md has the rest.
#
# B is transposed in memory here: how many rows and columns of C to take at a time, and whether a copy
# of B in another order is worth it, is what there is to find.

size   M, N, K
input  A: f32[M, K]
input  B: f32[N, K]
output C: f32[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += A[i, k] * B[j, k]
C[i, j]    = acc[i, j]

example { M = 384; N = 384; K = 384; A = random(1, -1, 1); B = random(2, -1, 1) }
