# Softmax attention of B heads: L queries against L keys of D numbers.
#
#     S = Q K^T / sqrt(D),   O = softmax(S) V   (softmax over each row)
#
# Stable: the largest score of a row is subtracted before `exp`. As three kernels would do it, the
# whole matrix of scores goes through memory; `attention_fused.hb` avoids that.

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
    keys.compute_root()
    score.compute_root().tile(i, l, io, lo, ii, li, 4, 64).parallel(b)
    dot.compute_at(score, lo)
    dot.update.reorder(b, d, i, l)
    most.compute_root()
    weight.compute_root()
    total.compute_root()
    O.tile(i, e, io, eo, ii, ei, 4, 64).parallel(b)
    sum.compute_at(O, eo)
    sum.update.reorder(b, j, i, e)
}

schedule fast for avx512 {
    keys.compute_root().tile(e, l, eo, lo, ei, li, 16, 16).vectorize(li).unroll(ei).parallel(b)
    score.compute_root().tile(i, l, io, lo, ii, li, 6, 64, tail = shift).reorder(b, lo, io, ii, li)
    score.vectorize(li, 16).unroll(li).unroll(ii).parallel(b)
    dot.compute_at(score, io).store_in(registers).vectorize(l, 16).unroll(l).unroll(i)
    dot.update.reorder(b, d, i, l).vectorize(l, 16).unroll(l).unroll(i)
    most.compute_root()
    most.update.split(j, jo, ji, 64).rfactor(ji, u)
    most.update.atomic().vectorize(ji)
    most_u.compute_at(most.update, i).store_in(registers).vectorize(u, 16).unroll(u)
    most_u.update.reorder(b, i, jo, u).vectorize(u, 16).unroll(u)
    weight.compute_root().vectorize(l, 16).parallel(b)
    total.compute_root()
    total.update.split(j, jo, ji, 64).rfactor(ji, u)
    total.update.atomic().vectorize(ji)
    total_u.compute_at(total.update, i).store_in(registers).vectorize(u, 16).unroll(u)
    total_u.update.reorder(b, i, jo, u).vectorize(u, 16).unroll(u)
    O.tile(i, e, io, eo, ii, ei, 6, 64, tail = shift).vectorize(ei, 16).unroll(ei).unroll(ii).parallel(b)
    sum.compute_at(O, eo).store_in(registers).vectorize(e, 16).unroll(e).unroll(i)
    sum.update.reorder(b, j, i, e).vectorize(e, 16).unroll(e).unroll(i)
}

schedule narrow for avx2 {
    keys.compute_root().tile(e, l, eo, lo, ei, li, 8, 8).vectorize(li).unroll(ei).parallel(b)
    score.compute_root().tile(i, l, io, lo, ii, li, 6, 16, tail = shift).reorder(b, lo, io, ii, li)
    score.vectorize(li, 8).unroll(li).unroll(ii).parallel(b)
    dot.compute_at(score, io).store_in(registers).vectorize(l, 8).unroll(l).unroll(i)
    dot.update.reorder(b, d, i, l).vectorize(l, 8).unroll(l).unroll(i)
    most.compute_root()
    most.update.split(j, jo, ji, 32).rfactor(ji, u)
    most.update.atomic().vectorize(ji)
    most_u.compute_at(most.update, i).store_in(registers).vectorize(u, 8).unroll(u)
    most_u.update.reorder(b, i, jo, u).vectorize(u, 8).unroll(u)
    weight.compute_root().vectorize(l, 8).parallel(b)
    total.compute_root()
    total.update.split(j, jo, ji, 32).rfactor(ji, u)
    total.update.atomic().vectorize(ji)
    total_u.compute_at(total.update, i).store_in(registers).vectorize(u, 8).unroll(u)
    total_u.update.reorder(b, i, jo, u).vectorize(u, 8).unroll(u)
    O.tile(i, e, io, eo, ii, ei, 6, 16, tail = shift).vectorize(ei, 8).unroll(ei).unroll(ii).parallel(b)
    sum.compute_at(O, eo).store_in(registers).vectorize(e, 8).unroll(e).unroll(i)
    sum.update.reorder(b, j, i, e).vectorize(e, 8).unroll(e).unroll(i)
}

example { B = 8; L = 1024; D = 64; Q = random(1, -1, 1); K = random(2, -1, 1); V = random(3, -1, 1) }
