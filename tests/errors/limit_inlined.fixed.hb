size N
input A: f32[N]
output B: f32[N]
q0[i] = A[i]
q1[i] = q0[i] + q0[i] / 2
q2[i] = q1[i] + q1[i] / 2
q3[i] = q2[i] + q2[i] / 2
q4[i] = q3[i] + q3[i] / 2
q5[i] = q4[i] + q4[i] / 2
q6[i] = q5[i] + q5[i] / 2
q7[i] = q6[i] + q6[i] / 2
q8[i] = q7[i] + q7[i] / 2
q9[i] = q8[i] + q8[i] / 2
q10[i] = q9[i] + q9[i] / 2
q11[i] = q10[i] + q10[i] / 2
q12[i] = q11[i] + q11[i] / 2
q13[i] = q12[i] + q12[i] / 2
q14[i] = q13[i] + q13[i] / 2
q15[i] = q14[i] + q14[i] / 2
q16[i] = q15[i] + q15[i] / 2
q17[i] = q16[i] + q16[i] / 2
q18[i] = q17[i] + q17[i] / 2
q19[i] = q18[i] + q18[i] / 2
q20[i] = q19[i] + q19[i] / 2
q21[i] = q20[i] + q20[i] / 2
q22[i] = q21[i] + q21[i] / 2
q23[i] = q22[i] + q22[i] / 2
q24[i] = q23[i] + q23[i] / 2
q25[i] = q24[i] + q24[i] / 2
q26[i] = q25[i] + q25[i] / 2
q27[i] = q26[i] + q26[i] / 2
q28[i] = q27[i] + q27[i] / 2
q29[i] = q28[i] + q28[i] / 2
q30[i] = q29[i] + q29[i] / 2
q31[i] = q30[i] + q30[i] / 2
q32[i] = q31[i] + q31[i] / 2
q33[i] = q32[i] + q32[i] / 2
q34[i] = q33[i] + q33[i] / 2
q35[i] = q34[i] + q34[i] / 2
q36[i] = q35[i] + q35[i] / 2
q37[i] = q36[i] + q36[i] / 2
q38[i] = q37[i] + q37[i] / 2
q39[i] = q38[i] + q38[i] / 2
B[i] = q39[i]

schedule s for c { q5.compute_root(); q10.compute_root(); q15.compute_root(); q20.compute_root(); q25.compute_root(); q30.compute_root(); q35.compute_root(); B.parallel(i) }
