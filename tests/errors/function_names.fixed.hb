size N
input A: f32[N]
output O: f32[N]
def size_of(x) = x
def a(x) = x
def f(x) = x
def h(y) = y
def g(f)[y, x] = f[y]
O[i] = f(A[i])
