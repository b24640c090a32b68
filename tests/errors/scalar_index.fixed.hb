size N
input x: f32[N]
input n: i32
bound n in 0 .. 1_000
output y: f32[N]
y[i] = clamp_edge(x)[i + n] + clamp_edge(x)[n] * f32(n)
schedule s for c {
    y.vectorize(i, 8)
}
