/* What this code needs of the processor: the bit of the auxiliary vector that says that there are vector
   registers, and how many bits these have at least. */
static const struct {
    int code;  /* says that it is missing */
    unsigned bits;
    int bit;
} needed_features[] = {
    /* rows */
};

#if defined(__linux__)
extern long syscall(long number, ...);
#endif

/* Whether the system says that there are none: Linux before 6.4 says nothing of vectors. */
static bool has_no_vectors(int bit)
{
#if defined(__linux__)
    enum { HARDWARE = 16, RISCV_HWPROBE = 258 };
    return !(getauxval(HARDWARE) >> bit & 1) && syscall(RISCV_HWPROBE, NULL, 0L, 0L, NULL, 0L) == 0;
#else
    return bit < 0;
#endif
}

/* The error code of a feature that is missing, or 0. */
static int missing_feature(void)
{
    for (size_t i = 0; i < sizeof needed_features / sizeof *needed_features; ++i) {
        unsigned long bytes = 0;
        if (has_no_vectors(needed_features[i].bit))
            return needed_features[i].code;
        __asm__ volatile("csrr %0, 0xc22" : "=r"(bytes));  /* vlenb */
        if (8 * bytes < needed_features[i].bits)
            return needed_features[i].code;
    }
    return 0;
}
