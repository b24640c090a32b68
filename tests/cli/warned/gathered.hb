size N
input t: f32[256]
input u: u8[300]
input q: u8[N]
output y: f32[N]
output z: u8[N]
y[i] = t[i64(q[i])]
z[i] = u[i64(q[i])]
schedule s for avx2 {
    y.vectorize(i, 8)
    z.vectorize(i, 32)
}
