# 10. Why is it slow? Four questions, in this order.
#
# How far from the best that this machine could do?
#
#     hbc bench 10_why_slow.hb --schedule first --target avx2
#
# gives the time, and the share of the roof: the least time that arithmetic or memory allows. A tenth is not much.
#
# Is something said about it?
#
#     hbc check 10_why_slow.hb
#
# warns of what is allowed and slow, with the line and the edit. Here it is silent: it knows of no mistake.
#
# Which loop takes the time, and what bounds it?
#
#     hbc compile 10_why_slow.hb --schedule first --target avx2 --emit html -o build
#
# is a page with the schedule, loops, C and assembly beside one another, and estimated cycles of each loop. Here: the sum
# over y is innermost, so that each step reads from another row, a cache line for one element.
#
# What does a change bring?
#
#     hbc diff 10_why_slow.hb 10_why_slow.hb --schedule first --schedule better --target avx2
#
# shows the difference of the loops, and times both in turns. `better` has x innermost, in vectors. Columns
# are summed for 512 at a time, so that the sums stay in the nearest cache.

size   H, W
input  I: f32[H, W]
output mean: f32[W]

reduce y in H
sum[x]  = 0
sum[x] += I[y, x]
mean[x] = sum[x] / f32(H)

schedule first for avx2, avx512 {
    sum.compute_at(mean, x)
}
schedule better for avx2, avx512 {
    mean.split(x, xo, xi, 512).parallel(xo).vectorize(xi, 8)
    sum.compute_at(mean, xo).vectorize(x, 8)
    sum.update.reorder(y, x).vectorize(x, 8)
}

example { H = 2048; W = 2048; I = random(1, -1, 1) }
