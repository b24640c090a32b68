size N, M
input A: f32[N, M]
output m: f32[N]
output i: i32[N]
def three(a) = (a, i32(a))
(m[x], i[x]) = three(A[x, 0])
