// Instructions that CUDA C++ has no functions for. On the CPU the twins of cuda_on_cpu.h are used.
#pragma once
#ifndef CUDA_ON_CPU

// An array of elements as the 32-bit registers that hold them.
template <class T, int N>
__device__ __forceinline__ unsigned (&ptx_words(T (&x)[N]))[N * sizeof(T) / 4]
{
    return reinterpret_cast<unsigned (&)[N * sizeof(T) / 4]>(x);
}

// Some of the registers of an array.
template <int FIRST, int COUNT, class T, int N>
__device__ __forceinline__ T (&ptx_part(T (&x)[N]))[COUNT]
{
    return reinterpret_cast<T (&)[COUNT]>(x[FIRST]);
}

__device__ __forceinline__ unsigned ptx_shared(const void *at)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

// One to four 8 x 8 matrices of 16-bit elements; lane 8 m + r gives the address of row r of matrix m,
// aligned to 16 bytes, in which `more` bytes are added to that. `trans` transposes each.
__device__ __forceinline__ void ptx_ldmatrix_x1(unsigned (&d)[1], const void *row, unsigned more = 0)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(d[0]) : "r"(ptx_shared(row) + more) : "memory");
}

__device__ __forceinline__ void ptx_ldmatrix_x2(unsigned (&d)[2], const void *row, unsigned more = 0)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(d[0]), "=r"(d[1]) : "r"(ptx_shared(row) + more) : "memory");
}

__device__ __forceinline__ void ptx_ldmatrix_x4(unsigned (&d)[4], const void *row, unsigned more = 0)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(ptx_shared(row) + more) : "memory");
}

__device__ __forceinline__ void ptx_ldmatrix_trans_x1(unsigned (&d)[1], const void *row, unsigned more = 0)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(d[0]) : "r"(ptx_shared(row) + more) : "memory");
}

__device__ __forceinline__ void ptx_ldmatrix_trans_x2(unsigned (&d)[2], const void *row, unsigned more = 0)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(d[0]), "=r"(d[1]) : "r"(ptx_shared(row) + more) : "memory");
}

__device__ __forceinline__ void ptx_ldmatrix_trans_x4(unsigned (&d)[4], const void *row, unsigned more = 0)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(ptx_shared(row) + more) : "memory");
}

// D = A B + C for A 16 x K by rows, B K x 8 by columns; the fragments are those of the PTX ISA.
#define PTX_MMA_F32(NAME, SHAPE, TYPE) \
    __device__ __forceinline__ void NAME( \
        float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4]) \
    { \
        asm volatile("mma.sync.aligned." SHAPE ".row.col.f32." TYPE "." TYPE ".f32 " \
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};" \
                     : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), \
                       "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3])); \
    }

#define PTX_MMA_S32(NAME, SHAPE, A, B) \
    __device__ __forceinline__ void NAME( \
        int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const int (&c)[4]) \
    { \
        asm volatile("mma.sync.aligned." SHAPE ".row.col.s32." A "." B ".s32 " \
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};" \
                     : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), \
                       "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3])); \
    }

PTX_MMA_F32(ptx_mma_m16n8k16_f32_f16, "m16n8k16", "f16")

PTX_MMA_F32(ptx_mma_m16n8k16_f32_bf16, "m16n8k16", "bf16")

PTX_MMA_F32(ptx_mma_m16n8k8_f32_tf32, "m16n8k8", "tf32")

// The nearest number with 10 bits of significand, ties away from zero.
__device__ __forceinline__ unsigned ptx_tf32(float x)
{
    unsigned rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
    return rounded;
}

// The same product of floats, which are rounded first.
__device__ __forceinline__ void ptx_mma_m16n8k8_f32_f32(
    float (&d)[4], const float (&a)[4], const float (&b)[2], const float (&c)[4])
{
    const unsigned x[4] = {ptx_tf32(a[0]), ptx_tf32(a[1]), ptx_tf32(a[2]), ptx_tf32(a[3])};
    const unsigned y[2] = {ptx_tf32(b[0]), ptx_tf32(b[1])};
    ptx_mma_m16n8k8_f32_tf32(d, x, y, c);
}

__device__ __forceinline__ void ptx_mma_m16n16k8_f32_f32(
    float (&d)[8], const float (&a)[4], const float (&b)[4], const float (&c)[8])
{
    ptx_mma_m16n8k8_f32_f32(ptx_part<0, 4>(d), a, ptx_part<0, 2>(b), ptx_part<0, 4>(c));
    ptx_mma_m16n8k8_f32_f32(ptx_part<4, 4>(d), a, ptx_part<2, 2>(b), ptx_part<4, 4>(c));
}

PTX_MMA_S32(ptx_mma_m16n8k32_s32_s8, "m16n8k32", "s8", "s8")

PTX_MMA_S32(ptx_mma_m16n8k32_s32_u8, "m16n8k32", "u8", "u8")

PTX_MMA_S32(ptx_mma_m16n8k32_s32_u8_s8, "m16n8k32", "u8", "s8")

PTX_MMA_S32(ptx_mma_m16n8k32_s32_s8_u8, "m16n8k32", "s8", "u8")

__device__ __forceinline__ void ptx_mma_m16n8k16_f16_f16(
    unsigned (&d)[2], const unsigned (&a)[4], const unsigned (&b)[2], const unsigned (&c)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
                 "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
                   "r"(c[0]), "r"(c[1]));
}

// Two products side by side, with B of K x 16: four matrices for `ldmatrix` to load at once. `N` is how many
// registers of type `R` each result has.
#define PTX_MMA_TWICE(NAME, ONE, R, N) \
    __device__ __forceinline__ void NAME( \
        R (&d)[2 * N], const unsigned (&a)[4], const unsigned (&b)[4], const R (&c)[2 * N]) \
    { \
        ONE(ptx_part<0, N>(d), a, ptx_part<0, 2>(b), ptx_part<0, N>(c)); \
        ONE(ptx_part<N, N>(d), a, ptx_part<2, 2>(b), ptx_part<N, N>(c)); \
    }

PTX_MMA_TWICE(ptx_mma_m16n16k16_f32_f16, ptx_mma_m16n8k16_f32_f16, float, 4)

PTX_MMA_TWICE(ptx_mma_m16n16k16_f32_bf16, ptx_mma_m16n8k16_f32_bf16, float, 4)

PTX_MMA_TWICE(ptx_mma_m16n16k16_f16_f16, ptx_mma_m16n8k16_f16_f16, unsigned, 2)

PTX_MMA_TWICE(ptx_mma_m16n16k32_s32_s8, ptx_mma_m16n8k32_s32_s8, int, 4)

PTX_MMA_TWICE(ptx_mma_m16n16k32_s32_u8, ptx_mma_m16n8k32_s32_u8, int, 4)

PTX_MMA_TWICE(ptx_mma_m16n16k32_s32_u8_s8, ptx_mma_m16n8k32_s32_u8_s8, int, 4)

PTX_MMA_TWICE(ptx_mma_m16n16k32_s32_s8_u8, ptx_mma_m16n8k32_s32_s8_u8, int, 4)

// Copies to shared memory that nobody waits for until ptx_cp_async_wait. Of the bytes written the
// first `bytes` are copied, the others 0.
__device__ __forceinline__ void ptx_cp_async_4(void *to, const void *from, int bytes = 4)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :: "r"(ptx_shared(to)), "l"(from), "r"(bytes) : "memory");
#else
    for (int b = 0; b < 4; ++b)
        static_cast<char *>(to)[b] = b < bytes ? static_cast<const char *>(from)[b] : 0;
#endif
}

__device__ __forceinline__ void ptx_cp_async_8(void *to, const void *from, int bytes = 8)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;"
                 :: "r"(ptx_shared(to)), "l"(from), "r"(bytes) : "memory");
#else
    for (int b = 0; b < 8; ++b)
        static_cast<char *>(to)[b] = b < bytes ? static_cast<const char *>(from)[b] : 0;
#endif
}

__device__ __forceinline__ void ptx_cp_async_16(void *to, const void *from, int bytes = 16)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(ptx_shared(to)), "l"(from), "r"(bytes) : "memory");
#else
    for (int b = 0; b < 16; ++b)
        static_cast<char *>(to)[b] = b < bytes ? static_cast<const char *>(from)[b] : 0;
#endif
}

__device__ __forceinline__ void ptx_cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Until at most the latest `MOST` groups are under way.
template <int MOST>
__device__ __forceinline__ void ptx_cp_async_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(MOST) : "memory");
}

// A barrier of `count` threads (a multiple of 32), by number 1 to 15; 0 is __syncthreads.
__device__ __forceinline__ void ptx_bar_sync(int id, int count)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
}

#endif
