#define __ATOMIC_RELAXED 0
#define __atomic_load_n(p, order) (*(const volatile int *)(p))
#define __atomic_store_n(p, value, order) ((void)_InterlockedExchange((volatile long *)(p), value))
