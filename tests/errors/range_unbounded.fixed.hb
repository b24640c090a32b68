size N, NNZ
input ptr: i32[N + 1]
input first: f32[N]
input val: f32[NNZ]
output y: f32[N]
output z: f32[N]
bound ptr in 0 .. NNZ + 1
reduce k in ptr[i] .. ptr[i + 1], r in clamp(i64(first[i]), 0, N) .. min(N, NNZ)
y[i] = 0
y[i] += val[k]
z[i] = 0
z[i] += val[r]
