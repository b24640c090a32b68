#include <stdio.h>

#include "gemm_f32.h"

int main(void)
{
    const float a[] = {1, 2, 3, 4, 5, 6};    /* 2 x 3 */
    const float b[] = {7, 8, 9, 10, 11, 12}; /* 3 x 2 */
    float c[4];
    int code = gemm_f32(2, 2, 3, a, b, c);
    if (code) {
        fprintf(stderr, "%s\n", gemm_f32_strerror(code));
        return 1;
    }
    printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);
    return 0;
}
