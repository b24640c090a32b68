// The host's side: launches, device memory, streams and events of the CUDA runtime. Everything is done
// at once; device memory is the host's, filled with garbage, and freed memory is found by sanitizers.
#pragma once
#include <ctime>

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidDevice = 101,
    cudaErrorIllegalAddress = 700,
};
enum cudaMemcpyKind {
    cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault,
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
};
struct cuda_cpu_stream;
struct cuda_cpu_event { double seconds; };
typedef cuda_cpu_stream *cudaStream_t;
#define cudaStreamLegacy ((cudaStream_t) nullptr)
#define cudaStreamPerThread ((cudaStream_t) nullptr)
typedef cuda_cpu_event *cudaEvent_t;
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin;
    int major, minor, multiProcessorCount, warpSize, maxThreadsPerBlock, clockRate, l2CacheSize;
};

namespace cuda_on_cpu __attribute__((visibility("hidden"))) {

// Those of compute capability 9.0.
constexpr size_t SHARED = 48 << 10, SHARED_IF_ASKED = 227 << 10;
constexpr int PROCESSORS = 2;  // few, so that loops over the grid have more than one turn

inline cudaError_t last_error = cudaSuccess;
inline std::vector<std::pair<const void *, size_t>> shared_limits;

inline cudaError_t failed(cudaError_t error)
{
    if (error)
        last_error = error;
    return error;
}

// Mistakes on demand. CUDA_ON_CPU_FAILS names a kernel that fails as if it touched memory that is not
// its own: whoever waits for it is told, and so is all that follows. CUDA_ON_CPU_MEMORY: bytes that
// no allocation may exceed.
inline cudaError_t broken = cudaSuccess;

inline bool fails(const char *kernel)
{
    const char *named = getenv("CUDA_ON_CPU_FAILS"), *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    if (named && !strcmp(named, kernel)) {
        broken = cudaErrorIllegalAddress;
        if (blocking && !strcmp(blocking, "1"))
            last_error = broken;
    }
    return broken != cudaSuccess;
}

inline bool is_too_much(size_t size)
{
    const char *most = getenv("CUDA_ON_CPU_MEMORY");
    return most && size > strtoull(most, nullptr, 10);
}

// A smaller device: CUDA_ON_CPU_THREADS that a block may have, CUDA_ON_CPU_SHARED bytes that it may ask for.
inline size_t least(const char *variable, size_t most)
{
    const char *wanted = getenv(variable);
    return wanted ? std::min<size_t>(most, strtoull(wanted, nullptr, 10)) : most;
}

inline size_t most_threads() { return least("CUDA_ON_CPU_THREADS", MAX_THREADS); }
inline size_t most_shared() { return least("CUDA_ON_CPU_SHARED", SHARED_IF_ASKED); }

inline size_t shared_limit(const void *kernel)
{
    for (const auto &limit : shared_limits)
        if (limit.first == kernel)
            return limit.second;
    return SHARED;
}

inline bool is_admissible(const void *kernel, dim3 grid, dim3 block, size_t dynamic_shared)
{
    const uint64_t count = static_cast<uint64_t>(block.x) * block.y * block.z;
    const bool sizes = grid.x && grid.y && grid.z && grid.x <= INT_MAX && grid.y <= 65535 && grid.z <= 65535;
    if (!sizes || !count || count > most_threads() || block.z > 64)
        return failed(cudaErrorInvalidConfiguration) == cudaSuccess;
    if (dynamic_shared > shared_limit(kernel))
        return failed(cudaErrorInvalidValue) == cudaSuccess;
    return true;
}

template <class... P>
struct Launcher {
    void (*kernel)(P...);
    const char *name;
    dim3 grid, block;
    size_t dynamic_shared;

    template <class... A>
    void operator()(A &&...given) const
    {
        typedef std::tuple<std::decay_t<P>...> Arguments;
        if (!is_admissible(reinterpret_cast<const void *>(kernel), grid, block, dynamic_shared))
            return;
        if (current)
            fail(std::string("a kernel launches ") + name);
        if (fails(name))
            return;
        struct Call {
            void (*kernel)(P...);
            Arguments arguments;
        } call = {kernel, Arguments(std::forward<A>(given)...)};
        launch = {grid, block, dynamic_shared, name,
                  [](void *p) { std::apply(static_cast<Call *>(p)->kernel, static_cast<Call *>(p)->arguments); },
                  &call};
        run_grid();
    }
};

// What `kernel<<<grid, block, dynamic_shared, stream>>>` becomes.
template <class... P>
Launcher<P...> launcher(
    void (*kernel)(P...), const char *name, dim3 grid, dim3 block, size_t dynamic_shared = 0,
    cudaStream_t = nullptr)
{
    return {kernel, name, grid, block, dynamic_shared};
}

inline double seconds_now()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace cuda_on_cpu

// --- errors ------------------------------------------------------------------------------------

inline cudaError_t cudaPeekAtLastError() { return cuda_on_cpu::last_error; }

inline cudaError_t cudaGetLastError()
{
    const cudaError_t error = cuda_on_cpu::last_error;
    cuda_on_cpu::last_error = cudaSuccess;
    return error;
}

inline const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorIllegalAddress: return "cudaErrorIllegalAddress";
    default: return "cudaErrorInvalidDevice";
    }
}

inline const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
    default: return "invalid device ordinal";
    }
}

// --- memory ------------------------------------------------------------------------------------

template <class T>
cudaError_t cudaMalloc(T **made, size_t size)
{
    void *p = nullptr;
    if (cuda_on_cpu::broken)
        return cuda_on_cpu::failed(cuda_on_cpu::broken);
    if (cuda_on_cpu::is_too_much(size) || (size && posix_memalign(&p, 256, size)))
        return cuda_on_cpu::failed(cudaErrorMemoryAllocation);
    cuda_on_cpu::poison(p, size);
    *made = static_cast<T *>(p);
    return cudaSuccess;
}

template <class T>
cudaError_t cudaMallocHost(T **made, size_t size)
{
    return cudaMalloc(made, size);
}

template <class T>
cudaError_t cudaMallocAsync(T **made, size_t size, cudaStream_t)
{
    return cudaMalloc(made, size);
}

inline cudaError_t cudaFree(void *p) { return free(p), cudaSuccess; }
inline cudaError_t cudaFreeHost(void *p) { return free(p), cudaSuccess; }
inline cudaError_t cudaFreeAsync(void *p, cudaStream_t) { return free(p), cudaSuccess; }

inline cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind)
{
    if (cuda_on_cpu::broken)
        return cuda_on_cpu::failed(cuda_on_cpu::broken);
    if (size)
        memmove(to, from, size);
    return cudaSuccess;
}

inline cudaError_t cudaMemcpyAsync(
    void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t = nullptr)
{
    return cudaMemcpy(to, from, size, kind);
}

inline cudaError_t cudaMemcpy2D(
    void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind)
{
    for (size_t row = 0; row < height; row++)
        memcpy(static_cast<char *>(to) + row * to_pitch, static_cast<const char *>(from) + row * from_pitch, width);
    return cudaSuccess;
}

inline cudaError_t cudaMemcpy2DAsync(
    void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
    cudaMemcpyKind kind, cudaStream_t = nullptr)
{
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

inline cudaError_t cudaMemset(void *p, int value, size_t size)
{
    if (size)
        memset(p, value, size);
    return cudaSuccess;
}

inline cudaError_t cudaMemsetAsync(void *p, int value, size_t size, cudaStream_t = nullptr)
{
    return cudaMemset(p, value, size);
}

template <class T>
cudaError_t cudaMemcpyToSymbol(
    T &symbol, const void *from, size_t size, size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice)
{
    if (offset + size > sizeof symbol)
        return cuda_on_cpu::failed(cudaErrorInvalidValue);
    memcpy(reinterpret_cast<char *>(&symbol) + offset, from, size);
    return cudaSuccess;
}

// --- devices, streams, events ------------------------------------------------------------------

inline cudaError_t cudaGetDeviceCount(int *count) { return *count = 1, cudaSuccess; }
inline cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }

inline cudaError_t cudaSetDevice(int device)
{
    return cuda_on_cpu::failed(device ? cudaErrorInvalidDevice : cudaSuccess);
}

inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = cuda_on_cpu::most_threads(); break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = cuda_on_cpu::SHARED; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = cuda_on_cpu::most_shared(); break;
    case cudaDevAttrMultiProcessorCount: *value = cuda_on_cpu::PROCESSORS; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    }
    return cudaSuccess;
}

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *found, int)
{
    *found = {"the CPU", size_t(1) << 33, cuda_on_cpu::SHARED, cuda_on_cpu::SHARED_IF_ASKED,
              9, 0, cuda_on_cpu::PROCESSORS, 32, cuda_on_cpu::MAX_THREADS, 1000000, 1 << 20};
    return cudaSuccess;
}

inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, const void *, int, size_t)
{
    return *count = 1, cudaSuccess;
}

template <class... P>
cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute, int value)
{
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return cudaSuccess;
    if (value < 0 || static_cast<size_t>(value) > cuda_on_cpu::most_shared())
        return cuda_on_cpu::failed(cudaErrorInvalidValue);
    cuda_on_cpu::shared_limits.insert(
        cuda_on_cpu::shared_limits.begin(), {reinterpret_cast<const void *>(kernel), value});
    return cudaSuccess;
}

inline cudaError_t cudaDeviceSynchronize()
{
    return cuda_on_cpu::broken ? cuda_on_cpu::broken : cudaPeekAtLastError();
}

inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaDeviceSynchronize(); }
inline cudaError_t cudaStreamCreate(cudaStream_t *made) { return *made = nullptr, cudaSuccess; }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaEventCreate(cudaEvent_t *made) { return *made = new cuda_cpu_event(), cudaSuccess; }
inline cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete event, cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }

inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr)
{
    return event->seconds = cuda_on_cpu::seconds_now(), cudaSuccess;
}

inline cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    return *milliseconds = static_cast<float>(1e3 * (to->seconds - from->seconds)), cudaSuccess;
}
