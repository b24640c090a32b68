/* What the last CUDA error of this thread was. */
static thread_local char last_error[600] = "no CUDA error";

namespace { /* other kernels of a program may have types of these names */

/* A kernel that was launched, and the last few of a call, for messages. */
struct launched {
    const char *kernel;
    dim3 grid;
    int threads;
    size_t shared_bytes;
};

} // namespace

enum { LAUNCHES_KEPT = 4 };
static thread_local launched launches[LAUNCHES_KEPT];
static thread_local int launch_count;

static bool failed(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return false;
    snprintf(last_error, sizeof last_error, "%s: %s (%s)", what, cudaGetErrorString(status),
             cudaGetErrorName(status));
    cudaGetLastError(); /* the next launch is not to blame */
    return true;
}

/* `kernel<<<grid, threads, shared memory>>>`, as the source has it. */
static int describe(char *text, size_t room, const launched &one)
{
    return snprintf(text, room, "%s<<<(%u, %u, %u), %d, %zu bytes of shared memory>>>", one.kernel,
                    one.grid.x, one.grid.y, one.grid.z, one.threads, one.shared_bytes);
}

/* After a launch: whether it was refused. */
static bool refused(const char *kernel, dim3 grid, int threads, size_t shared_bytes)
{
    const launched one = {kernel, grid, threads, shared_bytes};
    launches[launch_count++ % LAUNCHES_KEPT] = one;
    const cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess)
        return false;
    char what[200];
    describe(what, sizeof what, one);
    return failed(status, what);
}

/* Waits for a stream: whether a kernel failed there, which can be any of the last call's. */
static bool unfinished(cudaStream_t stream)
{
    const cudaError_t status = cudaStreamSynchronize(stream);
    if (status == cudaSuccess)
        return false;
    const int count = launch_count < LAUNCHES_KEPT ? launch_count : LAUNCHES_KEPT;
    char what[450];
    size_t length = (size_t)snprintf(what, sizeof what, "%s", count ? "" : "waiting for the GPU");
    for (int n = launch_count - count; n < launch_count && length + 1 < sizeof what; ++n) {
        const char *between = n + count == launch_count ? count > 1 ? "one of " : "" : ", ";
        length += (size_t)snprintf(what + length, sizeof what - length, "%s", between);
        if (length + 1 < sizeof what)
            length += (size_t)describe(what + length, sizeof what - length,
                                       launches[n % LAUNCHES_KEPT]);
    }
    return failed(status, what);
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

/* Whether integers of up to this magnitude are ints. */
[[maybe_unused]] static bool is_int(double most)
{
    return most <= INT32_MAX;
}

namespace {

/* Device memory, given back in the order of its stream; `data` is NULL when there is none to be had. */
struct device_memory {
    void *data = nullptr;
    cudaStream_t stream;
    cudaError_t status;

    device_memory(const char *name, int64_t count, size_t size, cudaStream_t on) : stream(on)
    {
        char what[120];
        snprintf(what, sizeof what, "device memory for `%.60s`, %.3g MB", name,
                 (double)count * (double)size * 1e-6);
        const bool fits = count >= 0 && (uint64_t)count <= (SIZE_MAX / 2 - 64) / size;
        const size_t bytes = (size_t)count * size + (count == 0);
        status = fits ? cudaMallocAsync(&data, bytes, stream) : cudaErrorMemoryAllocation;
        if (failed(status, what))
            data = nullptr;
    }
    /* Why `data` is NULL: one code where there is not that much memory, else the other. */
    int error(int too_little, int other) const
    {
        return status == cudaErrorMemoryAllocation ? too_little : other;
    }
    ~device_memory()
    {
        if (data != nullptr)
            cudaFreeAsync(data, stream);
    }
    device_memory(const device_memory &) = delete;
    device_memory &operator=(const device_memory &) = delete;
};

} // namespace
