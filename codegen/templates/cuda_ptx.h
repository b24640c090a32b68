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
#define PTX_MMA_F32(NAME, SHAPE, A, B) \
    __device__ __forceinline__ void NAME( \
        float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4]) \
    { \
        asm volatile("mma.sync.aligned." SHAPE ".row.col.f32." A "." B ".f32 " \
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

PTX_MMA_F32(ptx_mma_m16n8k16_f32_f16, "m16n8k16", "f16", "f16")

PTX_MMA_F32(ptx_mma_m16n8k16_f32_bf16, "m16n8k16", "bf16", "bf16")

PTX_MMA_F32(ptx_mma_m16n8k8_f32_tf32, "m16n8k8", "tf32", "tf32")

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

PTX_MMA_F32(ptx_mma_m16n8k32_f32_e4m3, "m16n8k32", "e4m3", "e4m3")

PTX_MMA_F32(ptx_mma_m16n8k32_f32_e5m2, "m16n8k32", "e5m2", "e5m2")

PTX_MMA_F32(ptx_mma_m16n8k32_f32_e4m3_e5m2, "m16n8k32", "e4m3", "e5m2")

PTX_MMA_F32(ptx_mma_m16n8k32_f32_e5m2_e4m3, "m16n8k32", "e5m2", "e4m3")

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

PTX_MMA_TWICE(ptx_mma_m16n16k32_f32_e4m3, ptx_mma_m16n8k32_f32_e4m3, float, 4)

PTX_MMA_TWICE(ptx_mma_m16n16k32_f32_e5m2, ptx_mma_m16n8k32_f32_e5m2, float, 4)

PTX_MMA_TWICE(ptx_mma_m16n16k32_f32_e4m3_e5m2, ptx_mma_m16n8k32_f32_e4m3_e5m2, float, 4)

PTX_MMA_TWICE(ptx_mma_m16n16k32_f32_e5m2_e4m3, ptx_mma_m16n8k32_f32_e5m2_e4m3, float, 4)

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

// Products of a group of four warps whose A and B are in shared memory, in 128-byte swizzle mode (PTX ISA,
// "Asynchronous Warpgroup Level Matrix Instructions"). An operand begins `more` bytes behind `at`; so many bytes
// further lie the next 64 elements of its rows, and the next 8 rows. Shared memory ends below 1 << 18.
__device__ __forceinline__ unsigned long long ptx_wgmma_operand(
    const void *at, unsigned more, unsigned across, unsigned down)
{
    const unsigned low = (ptx_shared(at) >> 4 | across >> 4 << 16) + (more >> 4);
    return static_cast<unsigned long long>(down >> 4 | 1u << 30) << 32 | low;
}

// What this thread stored to shared memory is seen by asynchronous products behind the next barrier.
__device__ __forceinline__ void ptx_fence_proxy_async()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// The number of the warp, which ptxas takes to be the same for all lanes.
__device__ __forceinline__ int ptx_warp() { return __shfl_sync(0xffffffff, threadIdx.x / 32, 0); }

// Whether this is the one lane of its warp, all of which are here, that does something for all.
__device__ __forceinline__ bool ptx_elected()
{
    unsigned elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
    return elected != 0;
}

// A signal in shared memory (PTX ISA, "mbarrier"), which so many threads come to in each turn.
__device__ __forceinline__ void ptx_signal_begin(void *signal, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(ptx_shared(signal)), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void ptx_signal_end(void *signal)
{
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(ptx_shared(signal)) : "memory");
}

// Comes to the signal, in whose present turn so many bytes land.
__device__ __forceinline__ void ptx_signal_expect(void *signal, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 ::"r"(ptx_shared(signal)), "r"(bytes) : "memory");
}

// Until the turn of this number is over; nobody may be two turns behind.
__device__ __forceinline__ void ptx_signal_wait(void *signal, unsigned turn)
{
    asm volatile("{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra AGAIN; }"
                 ::"r"(ptx_shared(signal)), "r"(turn & 1) : "memory");
}

// The box of an array that begins at these elements, innermost dimension first, to shared memory, as its map
// says (PTX ISA, "cp.async.bulk.tensor").
#define PTX_BULK_COPY(NAME, RANK, PARAMETERS, AT, GIVEN) \
    __device__ __forceinline__ void NAME(void *to, const CUtensorMap &map, void *signal, PARAMETERS) \
    { \
        asm volatile("cp.async.bulk.tensor." RANK ".shared::cluster.global.tile.mbarrier::complete_tx::bytes " \
                     "[%0], [%1, {" AT "}], [%2];" \
                     ::"r"(ptx_shared(to)), "l"(&map), "r"(ptx_shared(signal)), GIVEN : "memory"); \
    }
#define PTX_LIST(...) __VA_ARGS__

PTX_BULK_COPY(ptx_bulk_copy, "1d", int x, "%3", "r"(x))
PTX_BULK_COPY(ptx_bulk_copy, "2d", PTX_LIST(int x, int y), "%3, %4", PTX_LIST("r"(x), "r"(y)))
PTX_BULK_COPY(ptx_bulk_copy, "3d", PTX_LIST(int x, int y, int z), "%3, %4, %5", PTX_LIST("r"(x), "r"(y), "r"(z)))
PTX_BULK_COPY(ptx_bulk_copy, "4d", PTX_LIST(int x, int y, int z, int u), "%3, %4, %5, %6",
              PTX_LIST("r"(x), "r"(y), "r"(z), "r"(u)))
PTX_BULK_COPY(ptx_bulk_copy, "5d", PTX_LIST(int x, int y, int z, int u, int v), "%3, %4, %5, %6, %7",
              PTX_LIST("r"(x), "r"(y), "r"(z), "r"(u), "r"(v)))

// What was done to sums before is in order with the products that begin behind it.
__device__ __forceinline__ void ptx_wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ __forceinline__ void ptx_wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// Until at most the latest `MOST` groups of products are under way.
template <int MOST>
__device__ __forceinline__ void ptx_wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(MOST) : "memory");
}

// Registers as they are here: what is computed of them comes behind, and what they are computed of before.
template <int N>
__device__ __forceinline__ void ptx_hold(float (&d)[N])
{
    for (int i = 0; i < N; ++i)
        asm volatile("" : "+f"(d[i]) :: "memory");
}

template <int N>
__device__ __forceinline__ void ptx_hold(unsigned short (&d)[N])
{
    for (int i = 0; i < N / 2; ++i)
        asm volatile("" : "+r"(ptx_words(d)[i]) :: "memory");
}

#define PTX_SUMS_8(d, n) \
    "+f"(d[n]), "+f"(d[n + 1]), "+f"(d[n + 2]), "+f"(d[n + 3]), \
    "+f"(d[n + 4]), "+f"(d[n + 5]), "+f"(d[n + 6]), "+f"(d[n + 7])
#define PTX_SUMS_32(d, n) PTX_SUMS_8(d, n), PTX_SUMS_8(d, n + 8), PTX_SUMS_8(d, n + 16), PTX_SUMS_8(d, n + 24)
#define PTX_SUMS_64(d, n) PTX_SUMS_32(d, n), PTX_SUMS_32(d, n + 32)
#define PTX_SUMS_128(d, n) PTX_SUMS_64(d, n), PTX_SUMS_64(d, n + 64)
#define PTX_NAMES_32 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define PTX_NAMES_64 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define PTX_NAMES_128 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

// D = A B + D; `A` and `B` say of each whether its rows are elements of one k.
#define PTX_WGMMA(NAME, SHAPE, TYPE, SUMS, NAMES, COUNT, X, Y, TX, TY) \
    template <int A, int B> \
    __device__ __forceinline__ void NAME(float (&d)[COUNT], unsigned long long a, unsigned long long b) \
    { \
        asm volatile("wgmma.mma_async.sync.aligned." SHAPE ".f32." TYPE "." TYPE " {" NAMES "}, " \
                     X ", " Y ", 1, 1, 1, " TX ", " TY ";" \
                     : SUMS(d, 0) : "l"(a), "l"(b), "n"(A), "n"(B)); \
    }

PTX_WGMMA(ptx_wgmma_m64n64k16_f32_f16, "m64n64k16", "f16", PTX_SUMS_32, PTX_NAMES_32, 32, "%32", "%33", "%34", "%35")

PTX_WGMMA(ptx_wgmma_m64n128k16_f32_f16, "m64n128k16", "f16", PTX_SUMS_64, PTX_NAMES_64, 64, "%64", "%65", "%66", "%67")

PTX_WGMMA(ptx_wgmma_m64n256k16_f32_f16, "m64n256k16", "f16", PTX_SUMS_128, PTX_NAMES_128, 128, "%128", "%129", "%130", "%131")

PTX_WGMMA(ptx_wgmma_m64n64k16_f32_bf16, "m64n64k16", "bf16", PTX_SUMS_32, PTX_NAMES_32, 32, "%32", "%33", "%34", "%35")

PTX_WGMMA(ptx_wgmma_m64n128k16_f32_bf16, "m64n128k16", "bf16", PTX_SUMS_64, PTX_NAMES_64, 64, "%64", "%65", "%66", "%67")

PTX_WGMMA(ptx_wgmma_m64n256k16_f32_bf16, "m64n256k16", "bf16", PTX_SUMS_128, PTX_NAMES_128, 128, "%128", "%129", "%130", "%131")

// The same with 64 columns of A in registers, by four products of 16: `a` is in the order of sums. `B`: whether rows
// of B are elements of one k, so that 16 of them further lies the next part, else 32 bytes further.
#define PTX_WGMMA_REGISTERS(NAME, SHAPE, TYPE, SUMS, NAMES, COUNT, A0, A1, A2, A3, Y, TY) \
    template <int B> \
    __device__ __forceinline__ void NAME(float (&d)[COUNT], unsigned (&a)[16], unsigned long long b) \
    { \
        const unsigned long long step = B ? 2 * (b >> 32 & 0x3fff) : 2; \
        for (int k = 0; k < 4; ++k) \
            asm volatile("wgmma.mma_async.sync.aligned." SHAPE ".f32." TYPE "." TYPE " {" NAMES "}, " \
                         "{" A0 ", " A1 ", " A2 ", " A3 "}, " Y ", 1, 1, 1, " TY ";" \
                         : SUMS(d, 0) : "r"(a[4 * k]), "r"(a[4 * k + 1]), "r"(a[4 * k + 2]), "r"(a[4 * k + 3]), \
                         "l"(b + k * step), "n"(B)); \
    }

PTX_WGMMA_REGISTERS(ptx_wgmma_m64n64k64_f32_f16, "m64n64k16", "f16", PTX_SUMS_32, PTX_NAMES_32, 32, "%32", "%33", "%34", "%35", "%36", "%37")

PTX_WGMMA_REGISTERS(ptx_wgmma_m64n128k64_f32_f16, "m64n128k16", "f16", PTX_SUMS_64, PTX_NAMES_64, 64, "%64", "%65", "%66", "%67", "%68", "%69")

PTX_WGMMA_REGISTERS(ptx_wgmma_m64n256k64_f32_f16, "m64n256k16", "f16", PTX_SUMS_128, PTX_NAMES_128, 128, "%128", "%129", "%130", "%131", "%132", "%133")

PTX_WGMMA_REGISTERS(ptx_wgmma_m64n64k64_f32_bf16, "m64n64k16", "bf16", PTX_SUMS_32, PTX_NAMES_32, 32, "%32", "%33", "%34", "%35", "%36", "%37")

PTX_WGMMA_REGISTERS(ptx_wgmma_m64n128k64_f32_bf16, "m64n128k16", "bf16", PTX_SUMS_64, PTX_NAMES_64, 64, "%64", "%65", "%66", "%67", "%68", "%69")

PTX_WGMMA_REGISTERS(ptx_wgmma_m64n256k64_f32_bf16, "m64n256k16", "bf16", PTX_SUMS_128, PTX_NAMES_128, 128, "%128", "%129", "%130", "%131", "%132", "%133")

#endif
