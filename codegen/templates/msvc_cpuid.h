static int __get_cpuid_count(unsigned leaf, unsigned subleaf, unsigned *a, unsigned *b, unsigned *c,
                             unsigned *d)
{
    int r[4];
    __cpuid(r, (int)(leaf & 0x80000000u));
    if ((unsigned)r[0] < leaf)
        return 0;
    __cpuidex(r, (int)leaf, (int)subleaf);
    *a = (unsigned)r[0], *b = (unsigned)r[1], *c = (unsigned)r[2], *d = (unsigned)r[3];
    return 1;
}
#define __get_cpuid(leaf, a, b, c, d) __get_cpuid_count(leaf, 0, a, b, c, d)
