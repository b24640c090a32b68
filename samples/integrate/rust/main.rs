mod gemm_f32;

fn main() -> Result<(), gemm_f32::Error> {
    let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]; // 2 x 3
    let b = [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]; // 3 x 2
    let mut c = [0.0; 4];
    gemm_f32::gemm_f32(2, 2, 3, &a, &b, &mut c)?;
    println!("{} {} {} {}", c[0], c[1], c[2], c[3]);
    Ok(())
}
