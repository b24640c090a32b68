# An image S times as high and wide: each output takes every S-th tap of a T x T kernel.
#
#     O[y, x] = sum over s, r of K[S s + y % S, S r + x % S] * I[y / S + s, x / S + r]
#
# Polyphase: the S x S phases (p, q) = (y % S, x % S) are small convolutions of the same image,
# interleaved when they are stored. Taps beyond the kernel (S does not divide T) count as 0.

type   TI = f32
type   TK = f32
type   TO = f32
size   H, W, T
param  S: i64 = 2
param  B: i64 = max(4 / S, 1)  # rows of each phase in a block, and vectors of each row
input  I: TI[(H + S - 1) / S + (T - 1) / S, (W + S - 1) / S + (T - 1) / S]
input  K: TK[T, T]
output O: TO[H, W]

reduce s in (T + S - 1) / S, r in (T + S - 1) / S
taps[i, j, p, q]   = zero_edge(K)[S * i + p, S * j + q]
phase[y, x, p, q]  = 0
phase[y, x, p, q] += TO(taps[s, r, p, q]) * TO(I[y + s, x + r])
O[y, x]            = phase[y / S, x / S, y % S, x % S]

schedule portable for c {
    O.tile(y, x, yo, xo, yi, xi, B * S, 16 * B * S).parallel(yo)
    taps.compute_root()
    phase.compute_at(O, xo).reorder(y, p, q, x).reorder_storage(y, p, q, x)
    phase.update.reorder(s, r, y, p, q, x)
}

# For bf16 (--set TI=bf16 --set TK=bf16) and bytes (TI=u8, TK=i8, TO=i32): lane x of an instruction
# takes several neighbours from x on. These windows of the image serve all phases.
schedule dot for avx512vnni, avx512bf16 {
    O.tile(y, x, yo, xo, yi, xi, B * S, 16 * B * S)
    O.vectorize(xi, 16 * S).unroll(xi).unroll(yi).parallel(yo)
    taps.compute_root().reorder_storage(p, q, i, j)
    phase.compute_at(O, xo).store_in(registers).reorder(y, p, q, x).reorder_storage(y, p, q, x)
    phase.bound(p, 0, S).bound(q, 0, S)
    phase.vectorize(x, 16).unroll(x).unroll(y).unroll(p).unroll(q)
    phase.update.split(r, ro, ri, 4).reorder(s, ro, y, p, q, x, ri).unroll(ro, 2)
        .atomic().vectorize(ri).vectorize(x, 16).unroll(x).unroll(y).unroll(p).unroll(q)
}

# For S = 2: 2 rows of 2 vectors for each of the four phases. 4 rows of taps are unrolled together:
# 10 loads of the image serve 64 multiply-adds.
schedule fast for avx512 {
    O.tile(y, x, yo, xo, yi, xi, B * S, 16 * B * S)
    O.vectorize(xi, 16 * S).unroll(xi).unroll(yi).parallel(yo)
    taps.compute_root()
    phase.compute_at(O, xo).reorder(y, p, q, x).reorder_storage(y, p, q, x)
    phase.bound(p, 0, S).bound(q, 0, S)
    phase.vectorize(x, 16).unroll(x).unroll(y).unroll(p).unroll(q)
    phase.update.reorder(s, r, y, p, q, x).vectorize(x, 16).unroll(x).unroll(y).unroll(p).unroll(q)
    phase.update.specialize(T >= 4 * S).split(s, so, si, 4).reorder(so, r, si, y, p, q, x).unroll(si)
}

schedule narrow for avx2 {
    O.tile(y, x, yo, xo, yi, xi, B * S, 8 * S)
    O.vectorize(xi, 8 * S).unroll(yi).parallel(yo)
    taps.compute_root()
    phase.compute_at(O, xo).reorder(y, p, q, x).reorder_storage(y, p, q, x)
    phase.bound(p, 0, S).bound(q, 0, S)
    phase.vectorize(x, 8).unroll(x).unroll(y).unroll(p).unroll(q)
    phase.update.reorder(s, r, y, p, q, x).vectorize(x, 8).unroll(x).unroll(y).unroll(p).unroll(q)
    phase.update.specialize(T >= 2 * S).split(s, so, si, 2).reorder(so, r, si, y, p, q, x).unroll(si)
}

example { H = 2048; W = 2048; T = 16; I = random(1); K = random(2, -1, 1) }
example big { H = 2048; W = 2048; T = 32; I = random(1); K = random(2, -1, 1) }
