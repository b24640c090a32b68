#include <exception>
#include <iostream>
#include <vector>

#include "gemm_f32.hpp"

int main()
{
    const std::vector<float> a{1, 2, 3, 4, 5, 6};    // 2 x 3
    const std::vector<float> b{7, 8, 9, 10, 11, 12}; // 3 x 2
    hbc::buffer<float> c(4);
    try {
        hbc::gemm_f32(2, 2, 3, a, b, c);
    } catch (const std::exception &failure) {
        std::cerr << failure.what() << '\n';
        return 1;
    }
    const auto *p = c.data();
    std::cout << p[0] << ' ' << p[1] << ' ' << p[2] << ' ' << p[3] << '\n';
}
