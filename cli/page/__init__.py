"""`--emit html`: the kernel at every stage on one page, lines linked, with what loops should cost."""
