# The K greatest values of each row with their columns, greatest first; of equal ones the first comes first. Each
# pass takes the greatest of those that come behind what the pass before took.
size   M, N
param  K: i32 = 8
input  A: f32[M, N]
output value: f32[M, K]
output column: i32[M, K]
require K <= N

reduce k in 1 .. K + 1, j in N
def before(v, i, w, j) = v > w or (v == w and i < j)
(v[i, s], at[i, s]) = select(s == 0, (inf, -1), (-inf, i32(N)))
(v[i, k], at[i, k]) = select(before(v[i, k - 1], at[i, k - 1], A[i, j], i32(j)) and before(A[i, j], i32(j), v[i, k], at[i, k]),
    (A[i, j], i32(j)), (v[i, k], at[i, k]))
value[i, s]  = v[i, s + 1]
column[i, s] = at[i, s + 1]

schedule rows for c, avx2, avx512, arm_dot {
    v.reorder_storage(s, i)
    v.update.split(i, io, ii, 16).reorder(io, k, j, ii).vectorize(ii).parallel(io)
}

example { M = 256; N = 1000; A = random(1) }
