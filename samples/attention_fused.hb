# Softmax attention of B heads without the L x L matrix of scores.
#
#     S = Q K^T / sqrt(D),   O = softmax(S) V   (softmax over each row)
#
# The algorithm is that of `attention.hb`; the schedules compute scores, weights and sums for a few
# rows at a time, which stay in the cache.

size   B, L, D
input  Q: f32[B, L, D]
input  K: f32[B, L, D]
input  V: f32[B, L, D]
output O: f32[B, L, D]

reduce d in D, j in L
keys[b, e, l]   = K[b, l, e]
dot[b, i, l]    = 0
dot[b, i, l]   += Q[b, i, d] * keys[b, d, l]
score[b, i, l]  = dot[b, i, l] / sqrt(f32(D))
most[b, i]      = -inf
most[b, i]   max= score[b, i, j]
weight[b, i, l] = exp(score[b, i, l] - most[b, i])
total[b, i]     = 0
total[b, i]    += weight[b, i, j]
sum[b, i, e]    = 0
sum[b, i, e]   += weight[b, i, j] * V[b, j, e]
O[b, i, e]      = sum[b, i, e] / total[b, i]

schedule portable for c {
    keys.compute_at(O, b)
    O.tile(i, e, io, eo, ii, ei, 4, 64).parallel(b)
    score.compute_at(O, io).split(l, lo, li, 64).reorder(b, lo, i, li)
    dot.compute_at(score, lo)
    dot.update.reorder(b, d, i, l)
    most.compute_at(O, io)
    weight.compute_at(O, io)
    total.compute_at(O, io)
    sum.compute_at(O, eo)
    sum.update.reorder(b, j, i, e)
}

# Blocks of 6 queries: 6 x 4 vectors of scores, then 6 x 4 vectors of the result.
schedule fast for avx512 {
    keys.compute_at(O, b).tile(e, l, eo, lo, ei, li, 16, 16).vectorize(li).unroll(ei)
    O.tile(i, e, io, eo, ii, ei, 6, 64, tail = shift).parallel(b)
    O.vectorize(ei, 16).unroll(ei).unroll(ii)
    score.compute_at(O, io).split(l, lo, li, 64).reorder(b, lo, i, li)
    score.vectorize(li, 16).unroll(li).unroll(i)
    dot.compute_at(score, lo).store_in(registers).vectorize(l, 16).unroll(l).unroll(i)
    dot.update.reorder(b, d, i, l).vectorize(l, 16).unroll(l).unroll(i)
    most.compute_at(O, io)
    most.update.split(j, jo, ji, 64).rfactor(ji, u)
    most.update.atomic().vectorize(ji)
    most_u.compute_at(most.update, i).store_in(registers).vectorize(u, 16).unroll(u)
    most_u.update.reorder(b, i, jo, u).vectorize(u, 16).unroll(u)
    weight.compute_at(O, io).vectorize(l, 16)
    total.compute_at(O, io)
    total.update.split(j, jo, ji, 64).rfactor(ji, u)
    total.update.atomic().vectorize(ji)
    total_u.compute_at(total.update, i).store_in(registers).vectorize(u, 16).unroll(u)
    total_u.update.reorder(b, i, jo, u).vectorize(u, 16).unroll(u)
    sum.compute_at(O, eo).store_in(registers).vectorize(e, 16).unroll(e).unroll(i)
    sum.update.reorder(b, j, i, e).vectorize(e, 16).unroll(e).unroll(i)
}

schedule narrow for avx2 {
    keys.compute_at(O, b).tile(e, l, eo, lo, ei, li, 8, 8).vectorize(li).unroll(ei)
    O.tile(i, e, io, eo, ii, ei, 6, 16, tail = shift).parallel(b)
    O.vectorize(ei, 8).unroll(ei).unroll(ii)
    score.compute_at(O, io).split(l, lo, li, 16).reorder(b, lo, i, li)
    score.vectorize(li, 8).unroll(li).unroll(i)
    dot.compute_at(score, lo).store_in(registers).vectorize(l, 8).unroll(l).unroll(i)
    dot.update.reorder(b, d, i, l).vectorize(l, 8).unroll(l).unroll(i)
    most.compute_at(O, io)
    most.update.split(j, jo, ji, 32).rfactor(ji, u)
    most.update.atomic().vectorize(ji)
    most_u.compute_at(most.update, i).store_in(registers).vectorize(u, 8).unroll(u)
    most_u.update.reorder(b, i, jo, u).vectorize(u, 8).unroll(u)
    weight.compute_at(O, io).vectorize(l, 8)
    total.compute_at(O, io)
    total.update.split(j, jo, ji, 32).rfactor(ji, u)
    total.update.atomic().vectorize(ji)
    total_u.compute_at(total.update, i).store_in(registers).vectorize(u, 8).unroll(u)
    total_u.update.reorder(b, i, jo, u).vectorize(u, 8).unroll(u)
    sum.compute_at(O, eo).store_in(registers).vectorize(e, 8).unroll(e).unroll(i)
    sum.update.reorder(b, j, i, e).vectorize(e, 8).unroll(e).unroll(i)
}

example { B = 8; L = 1024; D = 64; Q = random(1, -1, 1); K = random(2, -1, 1); V = random(3, -1, 1) }
