size N
input g: f32
input n: u8
input on: bool
output y: f32[N]
y[a] = select(on, g, f32(n))
example { N = 5; g = 0.5; n = u8(300); on = true }
