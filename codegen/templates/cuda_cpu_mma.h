// ldmatrix and mma.sync: which lane holds which element is as in the PTX ISA, chapter "Matrix Fragments
// for mma.m16n8k16" and its neighbours. Twins of the functions of cuda_ptx.h.
#pragma once

namespace cuda_on_cpu __attribute__((visibility("hidden"))) {

struct LoadedMatrices {
    char row[16];
    unsigned *registers;
};

// Lane 8 m + r has the address of row r of matrix m: 8 rows of 8 elements of two bytes.
template <int COUNT, bool TRANSPOSED>
void load_matrices(void **requests, unsigned present)
{
    if (present != FULL)
        fail("ldmatrix needs all 32 lanes");
    for (int matrix = 0; matrix < COUNT; matrix++)
        for (unsigned lane = 0; lane < WARP; lane++) {
            uint16_t pair[2];
            for (unsigned i = 0; i < 2; i++) {
                const unsigned major = lane / 4, minor = lane % 4 * 2 + i;
                const unsigned row = TRANSPOSED ? minor : major, column = TRANSPOSED ? major : minor;
                const char *from = static_cast<LoadedMatrices *>(requests[matrix * 8 + row])->row;
                memcpy(&pair[i], from + 2 * column, 2);
            }
            memcpy(&static_cast<LoadedMatrices *>(requests[lane])->registers[matrix], pair, 4);
        }
}

template <int COUNT, bool TRANSPOSED>
void ldmatrix(unsigned (&d)[COUNT], const void *row, int line)
{
    LoadedMatrices mine;
    if (current->lane < COUNT * 8) {
        if (reinterpret_cast<uintptr_t>(row) % 16)
            fail(at_line("ldmatrix", line) + ": the row is not aligned to 16 bytes");
        if (!is_shared(row))
            fail(at_line("ldmatrix", line) + ": the row is not in shared memory");
        memcpy(mine.row, row, 16);
    }
    mine.registers = d;
    meet(FULL, "ldmatrix", line, load_matrices<COUNT, TRANSPOSED>, &mine, false);
}

struct Product {
    const unsigned *a, *b;
    const void *c;
    void *d;
};

struct Place {
    int row, column;
};

// Operands whose registers hold `PACKED` elements each: A is 16 x K, B is K x 8.
template <int PACKED>
Place place_of_a(int lane, int element)
{
    const int half = element / PACKED;  // the number of the register
    return {lane / 4 + (half & 1) * 8, lane % 4 * PACKED + element % PACKED + half / 2 * 4 * PACKED};
}

template <int PACKED>
Place place_of_b(int lane, int element)
{
    return {lane % 4 * PACKED + element % PACKED + element / PACKED * 4 * PACKED, lane / 4};
}

inline Place place_of_c(int lane, int element)
{
    return {lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2};
}

template <class T>
T element_of(const void *registers, int number)
{
    T value;
    memcpy(&value, static_cast<const char *>(registers) + number * sizeof value, sizeof value);
    return value;
}

// cvt.rna.tf32.f32: ties go away from zero.
inline uint32_t to_tf32(float x)
{
    const uint32_t bits = bits_as<uint32_t>(x);
    return (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & 0xffffe000u;
}

struct Tf32 {
    uint32_t bits;
    operator float() const { return bits_as<float>(bits & 0xffffe000u); }  // the low bits are ignored
};

// What of a float of 8 bits stands behind the sign, in units of the least number above zero.
template <int FRACTION>
float float8_units(int bits)
{
    const int exponent = (bits & 0x7f) >> FRACTION, fraction = bits & ((1 << FRACTION) - 1);
    const int units = exponent == 0 ? fraction : fraction + (1 << FRACTION);
    return ldexpf(static_cast<float>(bits & 0x80 ? -units : units), exponent == 0 ? 0 : exponent - 1);
}

struct E4M3 {
    uint8_t bits;
    operator float() const { return (bits & 0x7f) == 0x7f ? NAN : ldexpf(float8_units<3>(bits), -9); }
};

struct E5M2 {
    uint8_t bits;
    operator float() const
    {
        if ((bits & 0x7c) == 0x7c)
            return bits & 3 ? NAN : bits & 0x80 ? -INFINITY : INFINITY;
        return ldexpf(float8_units<2>(bits), -16);
    }
};

// Products are exact and are summed in `SUM` from the first k on; `T`, `U` and `D` are the stored types.
template <class T, class U, class D, class SUM, int K>
void multiply(void **requests, unsigned present)
{
    constexpr int PACKED = 4 / sizeof(T);
    if (present != FULL)
        fail("mma.sync needs all 32 lanes");
    static SUM a[16][K], b[K][8];
    for (unsigned lane = 0; lane < WARP; lane++) {
        const Product *mine = static_cast<Product *>(requests[lane]);
        for (int i = 0; i < 16 * K / 32; i++) {
            const Place place = place_of_a<PACKED>(lane, i);
            a[place.row][place.column] = static_cast<SUM>(element_of<T>(mine->a, i));
        }
        for (int i = 0; i < K * 8 / 32; i++) {
            const Place place = place_of_b<PACKED>(lane, i);
            b[place.row][place.column] = static_cast<SUM>(element_of<U>(mine->b, i));
        }
    }
    for (unsigned lane = 0; lane < WARP; lane++) {
        const Product *mine = static_cast<Product *>(requests[lane]);
        for (int i = 0; i < 4; i++) {
            const Place place = place_of_c(lane, i);
            SUM sum = static_cast<SUM>(element_of<D>(mine->c, i));
            for (int k = 0; k < K; k++)
                sum += a[place.row][k] * b[k][place.column];
            const D rounded = static_cast<D>(sum);
            memcpy(static_cast<char *>(mine->d) + i * sizeof rounded, &rounded, sizeof rounded);
        }
    }
}

}  // namespace cuda_on_cpu

template <class T, int N>
unsigned (&ptx_words(T (&x)[N]))[N * sizeof(T) / 4]
{
    return reinterpret_cast<unsigned (&)[N * sizeof(T) / 4]>(x);
}

template <int FIRST, int COUNT, class T, int N>
T (&ptx_part(T (&x)[N]))[COUNT]
{
    return reinterpret_cast<T (&)[COUNT]>(x[FIRST]);
}

#define CUDA_CPU_LDMATRIX(N) \
    inline void ptx_ldmatrix_x##N( \
        unsigned (&d)[N], const void *row, unsigned more = 0, CUDA_CPU_LINE) \
    { \
        cuda_on_cpu::ldmatrix<N, false>(d, static_cast<const char *>(row) + more, line); \
    } \
    inline void ptx_ldmatrix_trans_x##N( \
        unsigned (&d)[N], const void *row, unsigned more = 0, CUDA_CPU_LINE) \
    { \
        cuda_on_cpu::ldmatrix<N, true>(d, static_cast<const char *>(row) + more, line); \
    }
CUDA_CPU_LDMATRIX(1)
CUDA_CPU_LDMATRIX(2)
CUDA_CPU_LDMATRIX(4)

// D and C are `N` registers of type `R` that hold four elements of type `D`.
#define CUDA_CPU_MMA(NAME, T, U, D, SUM, K, R, N) \
    inline void NAME( \
        R (&d)[N], const unsigned (&a)[4], const unsigned (&b)[2], const R (&c)[N], CUDA_CPU_LINE) \
    { \
        cuda_on_cpu::Product mine = {a, b, c, d}; \
        cuda_on_cpu::meet( \
            cuda_on_cpu::FULL, "mma.sync", line, cuda_on_cpu::multiply<T, U, D, SUM, K>, &mine, \
            false); \
    }
CUDA_CPU_MMA(ptx_mma_m16n8k16_f32_f16, __half, __half, float, float, 16, float, 4)
CUDA_CPU_MMA(ptx_mma_m16n8k16_f32_bf16, __nv_bfloat16, __nv_bfloat16, float, float, 16, float, 4)
CUDA_CPU_MMA(ptx_mma_m16n8k16_f16_f16, __half, __half, __half, float, 16, unsigned, 2)
CUDA_CPU_MMA(ptx_mma_m16n8k8_f32_tf32, cuda_on_cpu::Tf32, cuda_on_cpu::Tf32, float, float, 8, float, 4)
CUDA_CPU_MMA(ptx_mma_m16n8k32_f32_e4m3, cuda_on_cpu::E4M3, cuda_on_cpu::E4M3, float, float, 32, float, 4)
CUDA_CPU_MMA(ptx_mma_m16n8k32_f32_e5m2, cuda_on_cpu::E5M2, cuda_on_cpu::E5M2, float, float, 32, float, 4)
CUDA_CPU_MMA(ptx_mma_m16n8k32_f32_e4m3_e5m2, cuda_on_cpu::E4M3, cuda_on_cpu::E5M2, float, float, 32, float, 4)
CUDA_CPU_MMA(ptx_mma_m16n8k32_f32_e5m2_e4m3, cuda_on_cpu::E5M2, cuda_on_cpu::E4M3, float, float, 32, float, 4)
CUDA_CPU_MMA(ptx_mma_m16n8k32_s32_s8, int8_t, int8_t, int, int, 32, int, 4)
CUDA_CPU_MMA(ptx_mma_m16n8k32_s32_u8, uint8_t, uint8_t, int, int, 32, int, 4)
CUDA_CPU_MMA(ptx_mma_m16n8k32_s32_u8_s8, uint8_t, int8_t, int, int, 32, int, 4)
CUDA_CPU_MMA(ptx_mma_m16n8k32_s32_s8_u8, int8_t, uint8_t, int, int, 32, int, 4)

// Two products side by side, with B of K x 16: four matrices for `ldmatrix` to load at once. `N` is how many
// registers of type `R` each result has.
#define PTX_MMA_TWICE(NAME, ONE, R, N) \
    inline void NAME( \
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

inline void ptx_mma_m16n8k8_f32_f32(
    float (&d)[4], const float (&a)[4], const float (&b)[2], const float (&c)[4])
{
    unsigned x[4], y[2];
    for (int i = 0; i < 4; i++)
        x[i] = cuda_on_cpu::to_tf32(a[i]);
    for (int i = 0; i < 2; i++)
        y[i] = cuda_on_cpu::to_tf32(b[i]);
    ptx_mma_m16n8k8_f32_tf32(d, x, y, c);
}

inline void ptx_mma_m16n16k8_f32_f32(
    float (&d)[8], const float (&a)[4], const float (&b)[4], const float (&c)[8])
{
    ptx_mma_m16n8k8_f32_f32(ptx_part<0, 4>(d), a, ptx_part<0, 2>(b), ptx_part<0, 4>(c));
    ptx_mma_m16n8k8_f32_f32(ptx_part<4, 4>(d), a, ptx_part<2, 2>(b), ptx_part<4, 4>(c));
}
