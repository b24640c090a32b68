/* What the last CUDA error of this thread was. */
static thread_local char last_error[300] = "no CUDA error";

static bool failed(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return false;
    snprintf(last_error, sizeof last_error, "%s: %s (%s)", what, cudaGetErrorString(status),
             cudaGetErrorName(status));
    return true;
}

/* After a launch: whether it was refused. */
static bool refused(const char *kernel, dim3 grid, int threads, size_t shared_bytes)
{
    char what[160];
    snprintf(what, sizeof what, "%s<<<(%u, %u, %u), %d, %zu bytes of shared memory>>>", kernel, grid.x,
             grid.y, grid.z, threads, shared_bytes);
    return failed(cudaGetLastError(), what);
}

/* Whether a grid can be launched; one without blocks is not launched at all. */
static bool too_large(int64_t x, int64_t y, int64_t z)
{
    if (x <= INT32_MAX && y <= 65535 && z <= 65535)
        return false;
    snprintf(last_error, sizeof last_error, "a grid of %lld x %lld x %lld blocks is too large",
             (long long)x, (long long)y, (long long)z);
    return true;
}

/* Device memory, given back in the order of its stream; `data` is NULL when there is not that much. */
struct device_memory {
    void *data = nullptr;
    cudaStream_t stream;

    device_memory(int64_t count, size_t size, cudaStream_t on) : stream(on)
    {
        if (count < 0 || (uint64_t)count > (SIZE_MAX / 2 - 64) / size)
            return;
        const size_t bytes = (size_t)count * size + (count == 0);
        if (failed(cudaMallocAsync(&data, bytes, stream), "cudaMallocAsync"))
            data = nullptr;
    }
    ~device_memory()
    {
        if (data != nullptr)
            cudaFreeAsync(data, stream);
    }
    device_memory(const device_memory &) = delete;
    device_memory &operator=(const device_memory &) = delete;
};
