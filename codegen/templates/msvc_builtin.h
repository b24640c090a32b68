#define __builtin_popcountll(x) ((int)__popcnt64(x))
#define __builtin_prefetch(...) ((void)0)
