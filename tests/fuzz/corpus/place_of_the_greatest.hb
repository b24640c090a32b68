# Broke: nothing yet; partial results with their places, of which the last of equal ones is kept.
# sizes: N=3 R=61 | N=2 R=16 | N=5 R=1 target: avx2 fixed: 0 seed: 1
size N, R
input A: i8[N, R]
output best: i8[N]
output at: i32[N]
reduce r in R
(best[x], at[x]) = (lowest, -1)
(best[x], at[x]) = select(A[x, r] / 32 >= best[x], (A[x, r] / 32, i32(r)), (best[x], at[x]))
schedule s for avx2 {
    at.update.split(r, ro, ri, 8).rfactor(ri, u)
    best_u.compute_at(at.update, x).store_in(registers).vectorize(u)
    best_u.update.reorder(ro, u).vectorize(u)
}
