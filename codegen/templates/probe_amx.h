/* What this code needs of the processor: the bit that CPUID leaves in one of eax, ebx, ecx, edx, the
   state that the system must save, the component that Linux must permit this process to use (or -1),
   and the bit by which an emulator says that it executes the instructions (or 0). */
struct needed_feature {
    int code;  /* says that it is missing */
    unsigned leaf, subleaf, place, bit, state;
    int component;
    unsigned emulated;
};
static const struct needed_feature needed_features[] = {
    /* rows */
};

enum { EMULATOR = 1 << 30 };
#if defined(AMX_SOFT)
#define EMULATED ~0u
#elif defined(__linux__)
/* An emulator in this process defines it, and decides. */
extern unsigned hbc_amx_emulated(void) __attribute__((weak));
#define EMULATED (hbc_amx_emulated ? hbc_amx_emulated() : 0u)
#else
#define EMULATED 0u
#endif

#if defined(__linux__)
extern long syscall(long number, ...);
#endif

static bool is_permitted(int component)
{
#if defined(__linux__)
    enum { ARCH_PRCTL = 158, REQUEST_PERMISSION = 0x1023 };
    return component < 0 || syscall(ARCH_PRCTL, REQUEST_PERMISSION, component) == 0;
#else
    return component < 0;
#endif
}

#if defined(SOFT_VECTORS)  /* C functions stand for some */
#define IS_SOFT(f) soft_feature((f)->leaf, (f)->subleaf, (f)->place, (f)->bit)
#else
#define IS_SOFT(f) false
#endif

static bool has_feature(const struct needed_feature *f)
{
    unsigned r[4], saved = 0;
    if (IS_SOFT(f))
        return true;
    if (__get_cpuid(1, &r[0], &r[1], &r[2], &r[3]) && (r[2] >> 27 & 1)) {  /* OSXSAVE */
#if defined(_MSC_VER) && !defined(__clang__)
        saved = (unsigned)_xgetbv(0);
#else
        unsigned high;
        __asm__ volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
#endif
    }
    return (saved & f->state) == f->state &&
           __get_cpuid_count(f->leaf, f->subleaf, &r[0], &r[1], &r[2], &r[3]) &&
           (r[f->place] >> f->bit & 1) && is_permitted(f->component);
}

/* The error code of a feature that is missing, or 0. Asks the processor once. */
static int missing_feature(void)
{
    enum { COUNT = sizeof needed_features / sizeof *needed_features, THERE = 1, MISSING = 2 };
    static int known[COUNT];
    const unsigned emulated = EMULATED;
    for (int i = 0; i < COUNT; ++i) {
        const struct needed_feature *f = &needed_features[i];
        int answer = __atomic_load_n(&known[i], __ATOMIC_RELAXED);
        if (f->emulated != 0 && (emulated & EMULATOR) != 0) {
            answer = emulated & f->emulated ? THERE : MISSING;
        } else if (answer == 0) {
            answer = has_feature(f) ? THERE : MISSING;
            __atomic_store_n(&known[i], answer, __ATOMIC_RELAXED);
        }
        if (answer == MISSING)
            return f->code;
    }
    return 0;
}
