/* What this code needs of the processor: the bit that CPUID leaves in one of eax, ebx, ecx, edx, and
   the state that the system must save. */
struct needed_feature {
    int code;  /* says that it is missing */
    unsigned leaf, subleaf, place, bit, state;
};
static const struct needed_feature needed_features[] = {
    /* rows */
};

#if defined(SOFT_VECTORS)  /* C functions stand for some */
#define IS_SOFT(f) soft_feature((f)->leaf, (f)->subleaf, (f)->place, (f)->bit)
#else
#define IS_SOFT(f) false
#endif

static bool has_feature(const struct needed_feature *f)
{
    unsigned r[4], saved = 0, high;
    if (IS_SOFT(f))
        return true;
    if (__get_cpuid(1, &r[0], &r[1], &r[2], &r[3]) && (r[2] >> 27 & 1))  /* OSXSAVE */
        __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    return (saved & f->state) == f->state &&
           __get_cpuid_count(f->leaf, f->subleaf, &r[0], &r[1], &r[2], &r[3]) &&
           (r[f->place] >> f->bit & 1);
}

/* The error code of a feature that is missing, or 0. Asks the processor once. */
static int missing_feature(void)
{
    enum { COUNT = sizeof needed_features / sizeof *needed_features, THERE = 1, MISSING = 2 };
    static int known[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        int answer = __atomic_load_n(&known[i], __ATOMIC_RELAXED);
        if (answer == 0) {
            answer = has_feature(&needed_features[i]) ? THERE : MISSING;
            __atomic_store_n(&known[i], answer, __ATOMIC_RELAXED);
        }
        if (answer == MISSING)
            return needed_features[i].code;
    }
    return 0;
}
