/* Bytes that one core reads, writes or copies per second, in the form of compiled kernels: `rounds` passes
 * over `bytes` bytes (a multiple of 256) in all. Which read the processor can run is the caller's
 * business. */
#include <stdint.h>
#include <string.h>

#define READ(NAME, ATTRIBUTE, VECTOR) \
    int NAME(int64_t bytes, int64_t rounds, const void *from); \
    ATTRIBUTE int NAME(int64_t bytes, int64_t rounds, const void *from) { \
        const VECTOR *v = from; \
        int64_t count = bytes / (int64_t)sizeof(VECTOR); \
        VECTOR a = v[0], b = a, c = a, d = a; \
        for (int64_t round = 0; round < rounds; round++) { \
            for (int64_t i = 0; i + 4 <= count; i += 4) { \
                a ^= v[i]; \
                b ^= v[i + 1]; \
                c ^= v[i + 2]; \
                d ^= v[i + 3]; \
            } \
            /* Each round must be made, and in memory. */ \
            __asm__ volatile("" : : : "memory"); \
        } \
        a ^= b ^ c ^ d; \
        __asm__ volatile("" : : "r"(&a) : "memory"); \
        return 0; \
    }

/* What is written is nothing that the compiler knows: it makes no call of the loop. */
#define WRITE(NAME, ATTRIBUTE, VECTOR) \
    int NAME(int64_t bytes, int64_t rounds, void *to); \
    ATTRIBUTE int NAME(int64_t bytes, int64_t rounds, void *to) { \
        VECTOR *v = to; \
        int64_t count = bytes / (int64_t)sizeof(VECTOR); \
        VECTOR a = v[0]; \
        for (int64_t round = 0; round < rounds; round++) { \
            for (int64_t i = 0; i + 4 <= count; i += 4) { \
                v[i] = a; \
                v[i + 1] = a; \
                v[i + 2] = a; \
                v[i + 3] = a; \
            } \
            __asm__ volatile("" : : : "memory"); \
        } \
        return 0; \
    }

/* Arrays begin at cache lines, not always at multiples of 64: aligned to the element. */
typedef uint64_t wide128 __attribute__((vector_size(16), aligned(8)));
READ(read_plain, , wide128)
WRITE(write_plain, , wide128)

#if defined(__x86_64__)
typedef uint64_t wide256 __attribute__((vector_size(32), aligned(8)));
typedef uint64_t wide512 __attribute__((vector_size(64), aligned(8)));
READ(read_avx2, __attribute__((target("avx2"))), wide256)
READ(read_avx512, __attribute__((target("avx512f"))), wide512)
WRITE(write_avx2, __attribute__((target("avx2"))), wide256)
WRITE(write_avx512, __attribute__((target("avx512f"))), wide512)
#endif

/* Half of the bytes are read, half written. */
int copy(int64_t bytes, int64_t rounds, const void *from, void *to);
int copy(int64_t bytes, int64_t rounds, const void *from, void *to) {
    for (int64_t round = 0; round < rounds; round++) {
        memcpy(to, from, (size_t)(bytes / 2));
        __asm__ volatile("" : : "r"(from), "r"(to) : "memory");
    }
    return 0;
}

/* A cycle each. What is added is in a register: some processors add constants while they rename registers. */
int additions(int64_t count);
int additions(int64_t count) {
    int64_t sum = 1, one = 1;
    __asm__ volatile("" : "+r"(one));
    for (int64_t n = 0; n < count; n += 8) {
#define ADD sum += one; __asm__ volatile("" : "+r"(sum));
        ADD ADD ADD ADD ADD ADD ADD ADD
    }
    return 0;
}
