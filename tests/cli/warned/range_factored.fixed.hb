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

schedule rows for avx2 {
    y.update.split(k, ko, ki, 16).rfactor(ki, u)
    y_u.compute_at(y.update, i).vectorize(u)
    y_u.update.vectorize(u)
}
