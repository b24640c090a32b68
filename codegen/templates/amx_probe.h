/* Whether this process may execute AMX, asked at run time: amx_features() returns a sum of
 *     AMX_TILE   the tiles themselves      AMX_INT8   tdpb{ss,su,us,uu}d
 *     AMX_BF16   tdpbf16ps                 AMX_FP16   tdpfp16ps
 * and 0 where the processor lacks the tiles, the system does not save them, or Linux refuses this
 * process the right to use them. CPUID alone says too much: an instruction then ends in SIGILL.
 *
 * An emulator cannot change what CPUID says. It answers instead by defining
 *     unsigned hbc_amx_emulated(void);
 * which returns AMX_EMULATED plus the features that it executes, and from then on decides; or 0,
 * and then the processor does. The symbol is weak here: without an emulator it is absent, and
 * nothing needs to be linked. amx_emulator.c defines it: that is to be loaded with RTLD_GLOBAL
 * before the library that asks, or preloaded, or linked. With amx_soft.h everything is there. */
#ifndef AMX_PROBE_H
#define AMX_PROBE_H

enum { AMX_TILE = 1, AMX_INT8 = 2, AMX_BF16 = 4, AMX_FP16 = 8, AMX_EMULATED = 1 << 30 };

#if defined(AMX_SOFT)

static inline unsigned amx_features(void)
{
    return AMX_TILE | AMX_INT8 | AMX_BF16 | AMX_FP16;
}

#elif defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <stddef.h>

extern unsigned hbc_amx_emulated(void) __attribute__((weak));
extern long syscall(long number, ...);

/* What the processor has and the system saves on a switch of threads. */
static inline unsigned amx_processor_features(void)
{
    unsigned a, b, c, d, low, high, features = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) /* OSXSAVE */
        return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low >> 17 & 3) != 3) /* XTILECFG, XTILEDATA */
        return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d >> 24 & 1))
        return 0;
    features = AMX_TILE | (d >> 25 & 1 ? AMX_INT8 : 0) | (d >> 22 & 1 ? AMX_BF16 : 0);
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 21 & 1))
        features |= AMX_FP16;
    return features;
}

static inline unsigned amx_features(void)
{
    enum { ARCH_PRCTL = 158, REQUEST_PERMISSION = 0x1023, XTILEDATA = 18, ASKED = 1 << 29 };
    const unsigned emulated = hbc_amx_emulated ? hbc_amx_emulated() : 0;
    if (emulated & AMX_EMULATED)
        return emulated & ~(unsigned)AMX_EMULATED;
    static unsigned known;
    unsigned features = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (features == 0) {
        features = amx_processor_features();
        if (features && syscall(ARCH_PRCTL, REQUEST_PERMISSION, XTILEDATA) != 0)
            features = 0;
        features |= ASKED;
        __atomic_store_n(&known, features, __ATOMIC_RELAXED);
    }
    return features & ~(unsigned)ASKED;
}

#else

static inline unsigned amx_features(void)
{
    return 0;
}

#endif
#endif
