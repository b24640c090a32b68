"""Everything that is wrong with a kernel, all of it reported at once; what comes out is typed."""
