// The roofs of a GPU: how fast it multiplies and adds, and how fast it copies. Compiled and called like
// a kernel (`gpu_roofs.py`): `count` is how many operations a call does in all, about.
#include <mma.h>
#include <stdint.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

using namespace nvcuda;

namespace {

enum { THREADS = 256, WARPS = THREADS / 32, CHAINS = 8, TILES = 4 };
__device__ double sink;  // so that no result is unused

int blocks()
{
    int device = 0, processors = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    return 2 * processors;
}

int64_t turns(int64_t count, int64_t of_a_block)
{
    const int64_t found = count / (blocks() * of_a_block);
    return found > 1 ? found : 1;
}

// On CUDA cores: CHAINS sums in a thread that do not wait for each other.
template <class T>
__global__ void __launch_bounds__(THREADS) multiply_add(int64_t rounds, T a, T b)
{
    T sums[CHAINS];
    for (int c = 0; c < CHAINS; ++c)
        sums[c] = static_cast<T>(threadIdx.x + c);
    for (int64_t n = 0; n < rounds; ++n)
#pragma unroll
        for (int c = 0; c < CHAINS; ++c)
            sums[c] = fma(sums[c], a, b);
    for (int c = 1; c < CHAINS; ++c)
        sums[0] += sums[c];
    if (sums[0] == static_cast<T>(-1))
        sink = sums[0];
}

// On tensor cores: TILES products of 16 x 16 x 16 in a warp that do not wait for each other.
template <class T, class S>
__global__ void __launch_bounds__(THREADS) multiply_tiles(int64_t rounds, S zero)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, S> sums[TILES];
    wmma::fill_fragment(a, static_cast<T>(1.0f));
    wmma::fill_fragment(b, static_cast<T>(1.0f));
    for (int t = 0; t < TILES; ++t)
        wmma::fill_fragment(sums[t], zero);
    for (int64_t n = 0; n < rounds; ++n)
#pragma unroll
        for (int t = 0; t < TILES; ++t)
            wmma::mma_sync(sums[t], a, b, sums[t]);
    S all = zero;
    for (int t = 0; t < TILES; ++t)
        for (int e = 0; e < sums[t].num_elements; ++e)
            all += sums[t].x[e];
    if (all == static_cast<S>(-1))
        sink = static_cast<double>(all);
}

__global__ void __launch_bounds__(THREADS) copy_words(const uint4 *from, uint4 *to, int64_t words, int64_t rounds)
{
    const int64_t first = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    for (int64_t n = 0; n < rounds; ++n)
        for (int64_t w = first; w < words; w += static_cast<int64_t>(gridDim.x) * THREADS)
            to[w] = from[w];
}

template <class T>
int on_cores(int64_t count, void *stream)
{
    const int64_t rounds = turns(count, 2 * THREADS * CHAINS);
    multiply_add<T><<<blocks(), THREADS, 0, (cudaStream_t)stream>>>(rounds, (T)0.5, (T)1);
    return cudaGetLastError();
}

template <class T, class S>
int on_tensor_cores(int64_t count, void *stream)
{
    const int64_t rounds = turns(count, 2LL * 16 * 16 * 16 * WARPS * TILES);
    multiply_tiles<T, S><<<blocks(), THREADS, 0, (cudaStream_t)stream>>>(rounds, (S)0);
    return cudaGetLastError();
}

}  // namespace

extern "C" {

int peak_f32_device(int64_t count, void *stream) { return on_cores<float>(count, stream); }
int peak_f64_device(int64_t count, void *stream) { return on_cores<double>(count, stream); }
int peak_f16_device(int64_t count, void *stream) { return on_tensor_cores<__half, float>(count, stream); }
int peak_bf16_device(int64_t count, void *stream) { return on_tensor_cores<__nv_bfloat16, float>(count, stream); }
int peak_u8s8_device(int64_t count, void *stream) { return on_tensor_cores<signed char, int>(count, stream); }

// `bytes` are those of both arrays together.
int copy_device(int64_t bytes, int64_t rounds, const void *from, void *to, void *stream)
{
    copy_words<<<8 * blocks(), THREADS, 0, (cudaStream_t)stream>>>((const uint4 *)from, (uint4 *)to, bytes / 32, rounds);
    return cudaGetLastError();
}

int own_copy_device(int64_t bytes, int64_t rounds, const void *from, void *to, void *stream)
{
    for (int64_t n = 0; n < rounds; ++n)
        cudaMemcpyAsync(to, from, (size_t)bytes / 2, cudaMemcpyDeviceToDevice, (cudaStream_t)stream);
    return cudaGetLastError();
}
}
