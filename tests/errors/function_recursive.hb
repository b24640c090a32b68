def even(n) = odd(n - 1)
def odd(n) = even(n - 1)
size N
output O: i64[N]
O[i] = even(i)
