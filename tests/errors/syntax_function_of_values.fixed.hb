size N
input x: f32[N]
output y: f32[N]
def avg(a, b) = (a + b) / 2
y[i] = avg(x[i], 1)
