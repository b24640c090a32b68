size N
input A: f32[N]
output O: f32[N]
import "std/math.hb"
def f(x) = x
p[i] = abs(A[i]) + exp(A[i])
O[i] = f(p[i]) + tan(A[i])
