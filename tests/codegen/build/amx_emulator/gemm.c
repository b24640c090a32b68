/* Two programs with the intrinsics as generated code writes them. */
#include <stdint.h>
#include <string.h>

static void configure(void)
{
    uint8_t config[64] = {1};
    for (int tile = 0; tile < 8; ++tile) {
        config[16 + 2 * tile] = 64;
        config[48 + tile] = 16;
    }
    _tile_loadconfig(config);
}

/* c = a * b, n x n, n a multiple of 32; the rows of b in interleaved pairs. */
void gemm(const uint16_t *a, const uint16_t *b, float *c, long n);
void gemm(const uint16_t *a, const uint16_t *b, float *c, long n)
{
    configure();
    for (long i = 0; i < n; i += 32)
        for (long j = 0; j < n; j += 32) {
            _tile_zero(0);
            _tile_zero(1);
            _tile_zero(2);
            _tile_zero(3);
            for (long k = 0; k < n; k += 32) {
                _tile_loadd(4, a + i * n + k, 2 * n);
                _tile_loadd(5, a + (i + 16) * n + k, 2 * n);
                _tile_loadd(6, b + k * n + 2 * j, 4 * n);
                _tile_stream_loadd(7, b + k * n + 2 * j + 32, 4 * n);
                _tile_dpbf16ps(0, 4, 6);
                _tile_dpbf16ps(1, 4, 7);
                _tile_dpbf16ps(2, 5, 6);
                _tile_dpbf16ps(3, 5, 7);
            }
            _tile_stored(0, c + i * n + j, 4 * n);
            _tile_stored(1, c + i * n + j + 16, 4 * n);
            _tile_stored(2, c + (i + 16) * n + j, 4 * n);
            _tile_stored(3, c + (i + 16) * n + j + 16, 4 * n);
        }
    _tile_release();
}

/* 64 products of 1 and 2, both tiles loaded from the same buffer. */
int ones_times_twos(void);
int ones_times_twos(void)
{
    int8_t buffer[1024];
    int32_t result[256];
    configure();
    memset(buffer, 1, sizeof buffer);
    _tile_loadd(1, buffer, 64);
    memset(buffer, 2, sizeof buffer);
    _tile_loadd(2, buffer, 64);
    _tile_zero(0);
    _tile_dpbssd(0, 1, 2);
    _tile_stored(0, result, 64);
    _tile_release();
    return result[0];
}
