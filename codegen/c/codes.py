"""The kinds of error codes that entry points return, apart from all that prints them."""

# Sizes above 2^40 are refused, so that no index expression overflows.
LARGEST_BITS = 40
# The thousands of an error code say what is wrong, the rest says where.
SIZE, NULL, ALIGN, EXTENT, STRIDE, LARGE, OVERLAP, REQUIRE, ASSERT, MEMORY, FEATURE, CUDA = (
    1000 * k for k in range(1, 13)
)
