# A sparse matrix in rows (CSR) times a vector: row i has the elements ptr[i] .. ptr[i + 1] of `value`, in the
# columns that `column` says.
size   N, M, NNZ
input  ptr: i32[N + 1]
input  column: i32[NNZ]
input  value: f32[NNZ]
input  x: f32[M]
output y: f32[N]
bound ptr in 0 .. NNZ + 1
bound column in 0 .. M

reduce k in ptr[i] .. ptr[i + 1]
y[i]  = 0
y[i] += value[k] * x[column[k]]

schedule rows for c, avx2, avx512, arm_dot {
    y.vectorize(i, 8)
    y.update.parallel(i).atomic().vectorize(k, 16)
}

example { N = 1000; M = 500; NNZ = 20000; ptr = ramp(); column = random(1); value = random(2); x = random(3) }
