/* The driver's cuTensorMapEncodeTiled, which no library needs to be linked for; NULL where it has none. */
static decltype(&cuTensorMapEncodeTiled) map_maker()
{
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
    const cudaError_t status =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
#else
    const cudaError_t status =
        cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
#endif
    return status == cudaSuccess && result == cudaDriverEntryPointSuccess
        ? reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found) : nullptr;
}

/* Whether no map can be made of an array for copies of boxes of it, whose rows of 128 bytes are swizzled in shared
   memory. Innermost dimension first; strides are bytes, without that of the innermost. */
static bool unmapped(CUtensorMap *map, const char *name, const void *data, CUtensorMapDataType type, int rank,
                     const int64_t *extents, const int64_t *strides, const unsigned *box)
{
    static const decltype(&cuTensorMapEncodeTiled) make = map_maker();
    if (make == nullptr) {
        snprintf(last_error, sizeof last_error, "a tensor map of `%.60s`: the driver has none", name);
        return true;
    }
    cuuint64_t counts[5], apart[5];
    cuuint32_t sizes[5], steps[5];
    for (int d = 0; d < rank; ++d) {
        counts[d] = (cuuint64_t)extents[d];
        sizes[d] = box[d];
        steps[d] = 1;
    }
    for (int d = 0; d + 1 < rank; ++d)
        apart[d] = (cuuint64_t)strides[d];
    const CUresult status = make(map, type, (cuuint32_t)rank, const_cast<void *>(data), counts, apart, sizes, steps,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (status == CUDA_SUCCESS)
        return false;
    snprintf(last_error, sizeof last_error, "a tensor map of `%.60s`: error %d of the driver", name, (int)status);
    return true;
}
