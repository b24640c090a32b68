/* What this code needs of the processor: the bit that CPUID leaves in one of eax, ebx, ecx, edx, and
   the state that the system must save. */
static const struct needed_feature {
    int code;  /* says that it is missing */
    unsigned leaf, subleaf, place, bit, state;
} needed_features[] = {
    /* rows */
};

#ifndef SOFT_VECTORS  /* C functions stand for some */
#define soft_feature(leaf, subleaf, place, bit) false
#endif

static bool has_feature(const struct needed_feature *f)
{
    unsigned r[4], saved = 0;
    if (__get_cpuid(1, &r[0], &r[1], &r[2], &r[3]) && (r[2] >> 27 & 1)) {  /* OSXSAVE */
#if defined(_MSC_VER) && !defined(__clang__)
        saved = (unsigned)_xgetbv(0);
#else
        unsigned high;
        __asm__ volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
#endif
    }
    return soft_feature(f->leaf, f->subleaf, f->place, f->bit) ||
           ((saved & f->state) == f->state &&
            __get_cpuid_count(f->leaf, f->subleaf, &r[0], &r[1], &r[2], &r[3]) &&
            (r[f->place] >> f->bit & 1));
}

/* The error code of a feature that is missing, or 0. Asks the processor once. */
static int missing_feature(void)
{
    static int known = -1;
    int code = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (code < 0) {
        code = 0;
        for (size_t i = 0; i < sizeof needed_features / sizeof *needed_features && code == 0; ++i)
            code = has_feature(&needed_features[i]) ? 0 : needed_features[i].code;
        __atomic_store_n(&known, code, __ATOMIC_RELAXED);
    }
    return code;
}
