# Broke: a Func was read at -1 of its input where H is 0: that the loop of its reader then has no step was taken to hold for the Func.
# sizes: W=7 H=17 | W=5 H=8 | W=16 H=0 target: avx512 fixed: 0 seed: 6
size W, H
input A: f32[W + 5, H + W + 1, W + 2]
input N: i16[3]
bound N in 0 .. 2
output f3: f32[W, W]
table T: f32[1] = [-1.25]
reduce r1 in 0 .. min(y + 0, H)
reduce r3 in 1 .. W + 1
f0[x, y] = f32(0)
f0[x, y] += max(f32(r3), A[x, y, r3])
f1[x, y] = f32(0)
f1[x, y] = f1[x, y] + (T[0] * clamp(T[0], inf, A[x + 2, y, N[x]]))
f2[n, c, w] = (T[0] * T[0])
f3[x, y] = f32(0)
f3[x, y] += select((f0[x, (let q2 = i64(f2[x, y - 3, r1] * 4) in clamp(q2, 0, H - 1))] > f32(-0.0)), f1[2, y + 1], 0.1)
schedule s for avx512 {
    f3.vectorize(x, 3)
    f2.compute_at(f3.update, x)
    f1.update.split(x, xo1, xi2, 2, tail = guard).tile(xi2, y, ao3, bo5, ai4, bi6, 5, 5, tail = mask)
    f0.compute_root().store_in(heap)
    f0.unroll(y, 4, tail = mask)
    f3.update.compute_with(f0.update, x)
}
