size N
input A: f32[N]
output O: f32[N]
def abs(x) = x
def A(x) = x
def f(x, x) = x
def f(y) = y
def g(h)[1] = h
O[i] = f(A[i])
