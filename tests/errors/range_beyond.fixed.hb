size N, M
input ptr: i32[N]
input x: f32[M]
output y: f32[N]
bound ptr in 0 .. M + 2
reduce k in ptr[i] .. clamp_edge(ptr)[i + 1]
y[i] = 0
y[i] += clamp_edge(x)[k]
