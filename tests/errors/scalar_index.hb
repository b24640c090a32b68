size N
input x: f32[N]
input n: i32
output y: f32[N]
y[i] = x[i + n] + x[n] * n
schedule s for c {
    n.compute_root()
}
