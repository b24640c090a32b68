size N
input A: f32[N]
output B: f32[N]
B[i] = A[i]
schedule s for c {
    B
    .split(i, o0, i0, 2)
    .split(o0, o1, i1, 2)
    .split(o1, o2, i2, 2)
    .split(o2, o3, i3, 2)
    .split(o3, o4, i4, 2)
    .split(o4, o5, i5, 2)
    .split(o5, o6, i6, 2)
    .split(o6, o7, i7, 2)
    .split(o7, o8, i8, 2)
    .split(o8, o9, i9, 2)
    .split(o9, o10, i10, 2)
    .split(o10, o11, i11, 2)
    .split(o11, o12, i12, 2)
    .split(o12, o13, i13, 2)
    .split(o13, o14, i14, 2)
    .split(o14, o15, i15, 2)
    .split(o15, o16, i16, 2)
    .split(o16, o17, i17, 2)
    .split(o17, o18, i18, 2)
    .split(o18, o19, i19, 2)
    .split(o19, o20, i20, 2)
    .split(o20, o21, i21, 2)
    .split(o21, o22, i22, 2)
    .split(o22, o23, i23, 2)
    .split(o23, o24, i24, 2)
    .split(o24, o25, i25, 2)
    .split(o25, o26, i26, 2)
    .split(o26, o27, i27, 2)
    .split(o27, o28, i28, 2)
    .split(o28, o29, i29, 2)
    .split(o29, o30, i30, 2)
}
