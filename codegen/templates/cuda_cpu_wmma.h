// nvcuda::wmma. Which lane holds which element is not specified and not NVIDIA's: element i of lane l
// is element 32 i + l of the tile by rows, so that code which relies on more than that is found.
#pragma once

namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
namespace precision {
struct tf32 {};
}
enum layout_t { mem_row_major, mem_col_major };

template <class T> struct stored { typedef T type; };
template <> struct stored<precision::tf32> { typedef float type; };

template <class USE, int M, int N, int K> struct extents;
template <int M, int N, int K> struct extents<matrix_a, M, N, K> { enum { ROWS = M, COLUMNS = K }; };
template <int M, int N, int K> struct extents<matrix_b, M, N, K> { enum { ROWS = K, COLUMNS = N }; };
template <int M, int N, int K> struct extents<accumulator, M, N, K> { enum { ROWS = M, COLUMNS = N }; };

template <class T, class U> constexpr bool is = std::is_same<T, U>::value;

// CUDA C++ Programming Guide, "Element Types and Matrix Sizes".
template <class USE, class T, int M, int N, int K>
constexpr bool exists()
{
    const bool wide = K == 16 && ((M == 16 && N == 16) || (M == 32 && N == 8) || (M == 8 && N == 32));
    const bool tf32 = M == 16 && N == 16 && K == 8, f64 = M == 8 && N == 8 && K == 4;
    if (is<USE, accumulator>)
        return (is<T, float> && (wide || tf32)) || ((is<T, __half> || is<T, int>) && wide) ||
               (is<T, double> && f64);
    return ((is<T, __half> || is<T, __nv_bfloat16> || is<T, signed char> || is<T, unsigned char>)&&wide) ||
           (is<T, precision::tf32> && tf32) || (is<T, double> && f64);
}

template <class USE, int M, int N, int K, class T, class LAYOUT = void>
struct fragment {
    static_assert(exists<USE, T, M, N, K>(), "there is no such WMMA fragment");
    typedef typename stored<T>::type element_type;
    enum { ROWS = extents<USE, M, N, K>::ROWS, COLUMNS = extents<USE, M, N, K>::COLUMNS };
    enum { num_elements = ROWS * COLUMNS / 32, num_storage_elements = num_elements };
    element_type x[num_elements];
};

// The guide asks for pointers aligned to 32 bytes; tiles whose rows are shorter lie at multiples of 16.
template <class F, class E>
void check_access(const E *p, unsigned stride, bool by_rows, const char *what, int line)
{
    using namespace cuda_on_cpu;
    const size_t run = sizeof(E) * (by_rows ? F::COLUMNS : F::ROWS), wanted = run < 32 ? 16 : 32;
    if (reinterpret_cast<uintptr_t>(p) % wanted)
        fail(at_line(what, line) + ": the pointer is not aligned to " + std::to_string(wanted) + " bytes");
    if (stride * sizeof(E) % 16)
        fail(at_line(what, line) + ": the stride is no multiple of 16 bytes");
}

// Which lane holds an element, in its place number / 32: none that code would find by chance.
inline int holder(int number) { return (5 * (number % 32) + 11 * (number / 32) + 3) % 32; }

// The other way round: the remainder by 32 of what this lane holds in a place. (5 * 13 is 1 modulo 32.)
inline int turned(int element) { return 13 * ((cuda_on_cpu::current->lane - 11 * element - 3) & 31) & 31; }

template <class F>
size_t place(int element, unsigned stride, bool by_rows)
{
    const int number = 32 * element + turned(element);
    const int row = number / F::COLUMNS, column = number % F::COLUMNS;
    return by_rows ? static_cast<size_t>(row) * stride + column : static_cast<size_t>(column) * stride + row;
}

template <class F, class E>
void load(F &f, const E *p, unsigned stride, bool by_rows, int line)
{
    check_access<F>(p, stride, by_rows, "load_matrix_sync", line);
    cuda_on_cpu::meet(cuda_on_cpu::FULL, "load_matrix_sync", line, cuda_on_cpu::all_there, nullptr, false);
    for (int i = 0; i < F::num_elements; i++)
        f.x[i] = p[place<F>(i, stride, by_rows)];
    cuda_on_cpu::meet(cuda_on_cpu::FULL, "load_matrix_sync", line, cuda_on_cpu::all_there, nullptr, false);
}

template <class USE, int M, int N, int K, class T, class LAYOUT>
void fill_fragment(fragment<USE, M, N, K, T, LAYOUT> &f, const typename stored<T>::type &v)
{
    for (auto &element : f.x)
        element = v;
}

template <class USE, int M, int N, int K, class T, class LAYOUT>
void load_matrix_sync(
    fragment<USE, M, N, K, T, LAYOUT> &f, const typename stored<T>::type *p, unsigned stride, CUDA_CPU_LINE)
{
    static_assert(!is<LAYOUT, void>, "an accumulator is loaded with its layout as the last argument");
    load(f, p, stride, is<LAYOUT, row_major>, line);
}

template <int M, int N, int K, class T>
void load_matrix_sync(
    fragment<accumulator, M, N, K, T> &f, const T *p, unsigned stride, layout_t layout, CUDA_CPU_LINE)
{
    load(f, p, stride, layout == mem_row_major, line);
}

template <int M, int N, int K, class T>
void store_matrix_sync(
    T *p, const fragment<accumulator, M, N, K, T> &f, unsigned stride, layout_t layout, CUDA_CPU_LINE)
{
    typedef fragment<accumulator, M, N, K, T> F;
    check_access<F>(p, stride, layout == mem_row_major, "store_matrix_sync", line);
    cuda_on_cpu::meet(cuda_on_cpu::FULL, "store_matrix_sync", line, cuda_on_cpu::all_there, nullptr, false);
    for (int i = 0; i < F::num_elements; i++)
        p[place<F>(i, stride, layout == mem_row_major)] = f.x[i];
    cuda_on_cpu::meet(cuda_on_cpu::FULL, "store_matrix_sync", line, cuda_on_cpu::all_there, nullptr, false);
}

// Rounds to 10 bits of fraction, ties away from zero (cvt.rna.tf32.f32).
inline float __float_to_tf32(float v)
{
    const uint32_t bits = cuda_on_cpu::bits_as<uint32_t>(v);
    return v != v ? v : cuda_on_cpu::bits_as<float>((bits + 0x1000) & 0xffffe000u);
}

// What is multiplied and summed: floats for the small ones, 32-bit integers for bytes.
template <class T> struct Sum { typedef float type; };
template <> struct Sum<double> { typedef double type; };
template <> struct Sum<signed char> { typedef int type; };
template <> struct Sum<unsigned char> { typedef int type; };

template <class T>
typename Sum<T>::type operand(typename stored<T>::type v)
{
    return static_cast<typename Sum<T>::type>(v);
}

template <>
inline float operand<precision::tf32>(float v)
{
    return cuda_on_cpu::bits_as<float>(cuda_on_cpu::bits_as<uint32_t>(v) & 0xffffe000u);
}

template <class D, class A, class B, class C>
struct Operands {
    D *d;
    const A *a;
    const B *b;
    const C *c;
};

template <int M, int N, int K, class T, class R, class S>
void multiply(void **requests, unsigned present)
{
    typedef typename stored<T>::type E;
    typedef typename Sum<T>::type SUM;
    typedef Operands<R, E, E, S> Mine;
    if (present != cuda_on_cpu::FULL)
        cuda_on_cpu::fail("mma_sync needs all 32 lanes");
    static SUM a[M][K], b[K][N];
    for (int e = 0; e < M * K; e++)
        a[e / K][e % K] = operand<T>(static_cast<Mine *>(requests[holder(e)])->a[e / 32]);
    for (int e = 0; e < K * N; e++)
        b[e / N][e % N] = operand<T>(static_cast<Mine *>(requests[holder(e)])->b[e / 32]);
    for (int e = 0; e < M * N; e++) {
        const Mine *mine = static_cast<Mine *>(requests[holder(e)]);
        SUM sum = static_cast<SUM>(mine->c[e / 32]);
        for (int k = 0; k < K; k++)
            sum += a[e / N][k] * b[k][e % N];
        mine->d[e / 32] = static_cast<R>(sum);
    }
}

// Products are exact and are summed in float (bytes: int) from the first k on, then rounded once.
template <int M, int N, int K, class T, class LA, class LB, class D, class C>
void mma_sync(
    fragment<accumulator, M, N, K, D> &d, const fragment<matrix_a, M, N, K, T, LA> &a,
    const fragment<matrix_b, M, N, K, T, LB> &b, const fragment<accumulator, M, N, K, C> &c, CUDA_CPU_LINE)
{
    typedef typename stored<T>::type E;
    Operands<D, E, E, C> mine = {d.x, a.x, b.x, c.x};
    cuda_on_cpu::meet(cuda_on_cpu::FULL, "mma_sync", line, multiply<M, N, K, T, D, C>, &mine, false);
}

}  // namespace wmma
}  // namespace nvcuda
