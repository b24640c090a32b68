size N
input x: f32[N]
output y: f32[N]
f[i] = x[i] * 2
y[i] = f[i]
schedule s for avx2 {
    f.in(y).compute_at(y, i)
}
