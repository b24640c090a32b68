size N
input x: f32[N]
output y: f32[N]
f[i] = x[i] * 2
y[i] = f[i]
schedule s for avx2 {
    f.compute_root().memoize()
    f.clone_in(y)
    f.rolling_buffer(i)
    f.compute_with(y, i)
    y.gpu_tile(i, 16)
    y.serial(i)
    y.set_scope(i)
    y.foreach_tiled(i, 8)
    y.debug_to_file(i)
    y.print_loop_nest()
    y.set_stride(i, 8)
    y.realize(i)
}
