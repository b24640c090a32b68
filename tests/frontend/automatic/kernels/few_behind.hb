# The last variables of `r` and `w` have few values: lanes go along others, and memory lies as these do. What `w` reads was
# computed along `q`, and is turned round on its way; angles are computed once for all rows.
size   M
input  A: f32[M, 512]
output O: f32[M, 31]

(c[q], d[q]) = (cos(f32(q) * 0.1), sin(f32(q) * 0.1))
(p[m, a, b, q], n[m, a, b, q]) = (A[m, 256 * a + 16 * b + q] * c[q] + d[q], A[m, 256 * a + 16 * b + q] * d[q] - c[q])
(t[m, k, q], s[m, k, q]) = (p[m, k / 16, k % 16, q], n[m, k / 16, k % 16, q])
w[m, k, z] = t[m, k, z] * s[m, k, z + 8] + t[m, k, z + 4] * s[m, k, z + 12]
r[m, k, z] = sqrt(abs(w[m, k, z])) + sin(w[m, k, z + 2])
O[m, k] = r[m, k, 0] * r[m, k + 1, 1] + r[m, k + 1, 0] * r[m, k, 1]

example { M = 5; A = random(1, -1, 1) }
