# Broke: a mask that no lane passes was named where nothing asked for it, of which gcc warns.
# sizes: W=1 | W=5 | W=40 target: avx512 fixed: 0 seed: 0
size W
input A: i16[W, W, W]
input N: i32[W]
bound N in 0 .. 4
output f0: f32[W, W]
reduce r1 in 1
f0[i, j] = (f32(N[i]) + f32(A[i, i, i]))
f0[i, j] min= (round(f32(i16(N[clamp(i + -2, 0, W - 1)]))) + f32(r1)) where ((j % 2 == 0) and (j % 2 == 1))

schedule auto_avx512 for avx512 {
    f0.vectorize(j, 16).parallel(i)
    f0.update.split(j, jo, ji, 256).reorder(i, jo, r1, ji).vectorize(ji, 16).unroll(ji)
    f0.update.unroll(r1, 2).parallel(i)
}
