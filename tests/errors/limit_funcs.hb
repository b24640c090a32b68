size N
input A: f32[N]
output B: f32[N]
q0[i] = A[i]
q1[i] = q0[i] + 1
q2[i] = q1[i] + 1
q3[i] = q2[i] + 1
q4[i] = q3[i] + 1
q5[i] = q4[i] + 1
q6[i] = q5[i] + 1
q7[i] = q6[i] + 1
q8[i] = q7[i] + 1
q9[i] = q8[i] + 1
q10[i] = q9[i] + 1
q11[i] = q10[i] + 1
q12[i] = q11[i] + 1
q13[i] = q12[i] + 1
q14[i] = q13[i] + 1
q15[i] = q14[i] + 1
q16[i] = q15[i] + 1
q17[i] = q16[i] + 1
q18[i] = q17[i] + 1
q19[i] = q18[i] + 1
q20[i] = q19[i] + 1
q21[i] = q20[i] + 1
q22[i] = q21[i] + 1
q23[i] = q22[i] + 1
q24[i] = q23[i] + 1
q25[i] = q24[i] + 1
q26[i] = q25[i] + 1
q27[i] = q26[i] + 1
q28[i] = q27[i] + 1
q29[i] = q28[i] + 1
q30[i] = q29[i] + 1
q31[i] = q30[i] + 1
q32[i] = q31[i] + 1
q33[i] = q32[i] + 1
q34[i] = q33[i] + 1
q35[i] = q34[i] + 1
q36[i] = q35[i] + 1
q37[i] = q36[i] + 1
q38[i] = q37[i] + 1
q39[i] = q38[i] + 1
q40[i] = q39[i] + 1
q41[i] = q40[i] + 1
q42[i] = q41[i] + 1
q43[i] = q42[i] + 1
q44[i] = q43[i] + 1
q45[i] = q44[i] + 1
q46[i] = q45[i] + 1
q47[i] = q46[i] + 1
q48[i] = q47[i] + 1
q49[i] = q48[i] + 1
q50[i] = q49[i] + 1
q51[i] = q50[i] + 1
q52[i] = q51[i] + 1
q53[i] = q52[i] + 1
q54[i] = q53[i] + 1
q55[i] = q54[i] + 1
q56[i] = q55[i] + 1
q57[i] = q56[i] + 1
q58[i] = q57[i] + 1
q59[i] = q58[i] + 1
q60[i] = q59[i] + 1
q61[i] = q60[i] + 1
q62[i] = q61[i] + 1
q63[i] = q62[i] + 1
q64[i] = q63[i] + 1
q65[i] = q64[i] + 1
q66[i] = q65[i] + 1
q67[i] = q66[i] + 1
q68[i] = q67[i] + 1
q69[i] = q68[i] + 1
q70[i] = q69[i] + 1
q71[i] = q70[i] + 1
q72[i] = q71[i] + 1
q73[i] = q72[i] + 1
q74[i] = q73[i] + 1
q75[i] = q74[i] + 1
q76[i] = q75[i] + 1
q77[i] = q76[i] + 1
q78[i] = q77[i] + 1
q79[i] = q78[i] + 1
q80[i] = q79[i] + 1
q81[i] = q80[i] + 1
q82[i] = q81[i] + 1
q83[i] = q82[i] + 1
q84[i] = q83[i] + 1
q85[i] = q84[i] + 1
q86[i] = q85[i] + 1
q87[i] = q86[i] + 1
q88[i] = q87[i] + 1
q89[i] = q88[i] + 1
q90[i] = q89[i] + 1
q91[i] = q90[i] + 1
q92[i] = q91[i] + 1
q93[i] = q92[i] + 1
q94[i] = q93[i] + 1
q95[i] = q94[i] + 1
q96[i] = q95[i] + 1
q97[i] = q96[i] + 1
q98[i] = q97[i] + 1
q99[i] = q98[i] + 1
q100[i] = q99[i] + 1
q101[i] = q100[i] + 1
q102[i] = q101[i] + 1
q103[i] = q102[i] + 1
q104[i] = q103[i] + 1
q105[i] = q104[i] + 1
q106[i] = q105[i] + 1
q107[i] = q106[i] + 1
q108[i] = q107[i] + 1
q109[i] = q108[i] + 1
q110[i] = q109[i] + 1
q111[i] = q110[i] + 1
q112[i] = q111[i] + 1
q113[i] = q112[i] + 1
q114[i] = q113[i] + 1
q115[i] = q114[i] + 1
q116[i] = q115[i] + 1
q117[i] = q116[i] + 1
q118[i] = q117[i] + 1
q119[i] = q118[i] + 1
q120[i] = q119[i] + 1
q121[i] = q120[i] + 1
q122[i] = q121[i] + 1
q123[i] = q122[i] + 1
q124[i] = q123[i] + 1
q125[i] = q124[i] + 1
q126[i] = q125[i] + 1
q127[i] = q126[i] + 1
q128[i] = q127[i] + 1
q129[i] = q128[i] + 1
q130[i] = q129[i] + 1
q131[i] = q130[i] + 1
q132[i] = q131[i] + 1
q133[i] = q132[i] + 1
q134[i] = q133[i] + 1
q135[i] = q134[i] + 1
q136[i] = q135[i] + 1
q137[i] = q136[i] + 1
q138[i] = q137[i] + 1
q139[i] = q138[i] + 1
q140[i] = q139[i] + 1
q141[i] = q140[i] + 1
q142[i] = q141[i] + 1
q143[i] = q142[i] + 1
q144[i] = q143[i] + 1
q145[i] = q144[i] + 1
q146[i] = q145[i] + 1
q147[i] = q146[i] + 1
q148[i] = q147[i] + 1
q149[i] = q148[i] + 1
q150[i] = q149[i] + 1
q151[i] = q150[i] + 1
q152[i] = q151[i] + 1
q153[i] = q152[i] + 1
q154[i] = q153[i] + 1
q155[i] = q154[i] + 1
q156[i] = q155[i] + 1
q157[i] = q156[i] + 1
q158[i] = q157[i] + 1
q159[i] = q158[i] + 1
q160[i] = q159[i] + 1
q161[i] = q160[i] + 1
q162[i] = q161[i] + 1
q163[i] = q162[i] + 1
q164[i] = q163[i] + 1
q165[i] = q164[i] + 1
q166[i] = q165[i] + 1
q167[i] = q166[i] + 1
q168[i] = q167[i] + 1
q169[i] = q168[i] + 1
q170[i] = q169[i] + 1
q171[i] = q170[i] + 1
q172[i] = q171[i] + 1
q173[i] = q172[i] + 1
q174[i] = q173[i] + 1
q175[i] = q174[i] + 1
q176[i] = q175[i] + 1
q177[i] = q176[i] + 1
q178[i] = q177[i] + 1
q179[i] = q178[i] + 1
q180[i] = q179[i] + 1
q181[i] = q180[i] + 1
q182[i] = q181[i] + 1
q183[i] = q182[i] + 1
q184[i] = q183[i] + 1
q185[i] = q184[i] + 1
q186[i] = q185[i] + 1
q187[i] = q186[i] + 1
q188[i] = q187[i] + 1
q189[i] = q188[i] + 1
q190[i] = q189[i] + 1
q191[i] = q190[i] + 1
q192[i] = q191[i] + 1
q193[i] = q192[i] + 1
q194[i] = q193[i] + 1
q195[i] = q194[i] + 1
q196[i] = q195[i] + 1
q197[i] = q196[i] + 1
q198[i] = q197[i] + 1
q199[i] = q198[i] + 1
q200[i] = q199[i] + 1
q201[i] = q200[i] + 1
q202[i] = q201[i] + 1
q203[i] = q202[i] + 1
q204[i] = q203[i] + 1
q205[i] = q204[i] + 1
q206[i] = q205[i] + 1
q207[i] = q206[i] + 1
q208[i] = q207[i] + 1
q209[i] = q208[i] + 1
q210[i] = q209[i] + 1
q211[i] = q210[i] + 1
q212[i] = q211[i] + 1
q213[i] = q212[i] + 1
q214[i] = q213[i] + 1
q215[i] = q214[i] + 1
q216[i] = q215[i] + 1
q217[i] = q216[i] + 1
q218[i] = q217[i] + 1
q219[i] = q218[i] + 1
q220[i] = q219[i] + 1
q221[i] = q220[i] + 1
q222[i] = q221[i] + 1
q223[i] = q222[i] + 1
q224[i] = q223[i] + 1
q225[i] = q224[i] + 1
q226[i] = q225[i] + 1
q227[i] = q226[i] + 1
q228[i] = q227[i] + 1
q229[i] = q228[i] + 1
q230[i] = q229[i] + 1
q231[i] = q230[i] + 1
q232[i] = q231[i] + 1
q233[i] = q232[i] + 1
q234[i] = q233[i] + 1
q235[i] = q234[i] + 1
q236[i] = q235[i] + 1
q237[i] = q236[i] + 1
q238[i] = q237[i] + 1
q239[i] = q238[i] + 1
q240[i] = q239[i] + 1
q241[i] = q240[i] + 1
q242[i] = q241[i] + 1
q243[i] = q242[i] + 1
q244[i] = q243[i] + 1
q245[i] = q244[i] + 1
q246[i] = q245[i] + 1
q247[i] = q246[i] + 1
q248[i] = q247[i] + 1
q249[i] = q248[i] + 1
q250[i] = q249[i] + 1
q251[i] = q250[i] + 1
q252[i] = q251[i] + 1
q253[i] = q252[i] + 1
q254[i] = q253[i] + 1
q255[i] = q254[i] + 1
q256[i] = q255[i] + 1
q257[i] = q256[i] + 1
q258[i] = q257[i] + 1
q259[i] = q258[i] + 1
q260[i] = q259[i] + 1
q261[i] = q260[i] + 1
q262[i] = q261[i] + 1
q263[i] = q262[i] + 1
q264[i] = q263[i] + 1
q265[i] = q264[i] + 1
q266[i] = q265[i] + 1
q267[i] = q266[i] + 1
q268[i] = q267[i] + 1
q269[i] = q268[i] + 1
q270[i] = q269[i] + 1
q271[i] = q270[i] + 1
q272[i] = q271[i] + 1
q273[i] = q272[i] + 1
q274[i] = q273[i] + 1
q275[i] = q274[i] + 1
q276[i] = q275[i] + 1
q277[i] = q276[i] + 1
q278[i] = q277[i] + 1
q279[i] = q278[i] + 1
q280[i] = q279[i] + 1
q281[i] = q280[i] + 1
q282[i] = q281[i] + 1
q283[i] = q282[i] + 1
q284[i] = q283[i] + 1
q285[i] = q284[i] + 1
q286[i] = q285[i] + 1
q287[i] = q286[i] + 1
q288[i] = q287[i] + 1
q289[i] = q288[i] + 1
q290[i] = q289[i] + 1
q291[i] = q290[i] + 1
q292[i] = q291[i] + 1
q293[i] = q292[i] + 1
q294[i] = q293[i] + 1
q295[i] = q294[i] + 1
q296[i] = q295[i] + 1
q297[i] = q296[i] + 1
q298[i] = q297[i] + 1
q299[i] = q298[i] + 1
B[i] = q299[i]
schedule s for c {
    q0.compute_root()
    q1.compute_root()
    q2.compute_root()
    q3.compute_root()
    q4.compute_root()
    q5.compute_root()
    q6.compute_root()
    q7.compute_root()
    q8.compute_root()
    q9.compute_root()
    q10.compute_root()
    q11.compute_root()
    q12.compute_root()
    q13.compute_root()
    q14.compute_root()
    q15.compute_root()
    q16.compute_root()
    q17.compute_root()
    q18.compute_root()
    q19.compute_root()
    q20.compute_root()
    q21.compute_root()
    q22.compute_root()
    q23.compute_root()
    q24.compute_root()
    q25.compute_root()
    q26.compute_root()
    q27.compute_root()
    q28.compute_root()
    q29.compute_root()
    q30.compute_root()
    q31.compute_root()
    q32.compute_root()
    q33.compute_root()
    q34.compute_root()
    q35.compute_root()
    q36.compute_root()
    q37.compute_root()
    q38.compute_root()
    q39.compute_root()
    q40.compute_root()
    q41.compute_root()
    q42.compute_root()
    q43.compute_root()
    q44.compute_root()
    q45.compute_root()
    q46.compute_root()
    q47.compute_root()
    q48.compute_root()
    q49.compute_root()
    q50.compute_root()
    q51.compute_root()
    q52.compute_root()
    q53.compute_root()
    q54.compute_root()
    q55.compute_root()
    q56.compute_root()
    q57.compute_root()
    q58.compute_root()
    q59.compute_root()
    q60.compute_root()
    q61.compute_root()
    q62.compute_root()
    q63.compute_root()
    q64.compute_root()
    q65.compute_root()
    q66.compute_root()
    q67.compute_root()
    q68.compute_root()
    q69.compute_root()
    q70.compute_root()
    q71.compute_root()
    q72.compute_root()
    q73.compute_root()
    q74.compute_root()
    q75.compute_root()
    q76.compute_root()
    q77.compute_root()
    q78.compute_root()
    q79.compute_root()
    q80.compute_root()
    q81.compute_root()
    q82.compute_root()
    q83.compute_root()
    q84.compute_root()
    q85.compute_root()
    q86.compute_root()
    q87.compute_root()
    q88.compute_root()
    q89.compute_root()
    q90.compute_root()
    q91.compute_root()
    q92.compute_root()
    q93.compute_root()
    q94.compute_root()
    q95.compute_root()
    q96.compute_root()
    q97.compute_root()
    q98.compute_root()
    q99.compute_root()
    q100.compute_root()
    q101.compute_root()
    q102.compute_root()
    q103.compute_root()
    q104.compute_root()
    q105.compute_root()
    q106.compute_root()
    q107.compute_root()
    q108.compute_root()
    q109.compute_root()
    q110.compute_root()
    q111.compute_root()
    q112.compute_root()
    q113.compute_root()
    q114.compute_root()
    q115.compute_root()
    q116.compute_root()
    q117.compute_root()
    q118.compute_root()
    q119.compute_root()
    q120.compute_root()
    q121.compute_root()
    q122.compute_root()
    q123.compute_root()
    q124.compute_root()
    q125.compute_root()
    q126.compute_root()
    q127.compute_root()
    q128.compute_root()
    q129.compute_root()
    q130.compute_root()
    q131.compute_root()
    q132.compute_root()
    q133.compute_root()
    q134.compute_root()
    q135.compute_root()
    q136.compute_root()
    q137.compute_root()
    q138.compute_root()
    q139.compute_root()
    q140.compute_root()
    q141.compute_root()
    q142.compute_root()
    q143.compute_root()
    q144.compute_root()
    q145.compute_root()
    q146.compute_root()
    q147.compute_root()
    q148.compute_root()
    q149.compute_root()
    q150.compute_root()
    q151.compute_root()
    q152.compute_root()
    q153.compute_root()
    q154.compute_root()
    q155.compute_root()
    q156.compute_root()
    q157.compute_root()
    q158.compute_root()
    q159.compute_root()
    q160.compute_root()
    q161.compute_root()
    q162.compute_root()
    q163.compute_root()
    q164.compute_root()
    q165.compute_root()
    q166.compute_root()
    q167.compute_root()
    q168.compute_root()
    q169.compute_root()
    q170.compute_root()
    q171.compute_root()
    q172.compute_root()
    q173.compute_root()
    q174.compute_root()
    q175.compute_root()
    q176.compute_root()
    q177.compute_root()
    q178.compute_root()
    q179.compute_root()
    q180.compute_root()
    q181.compute_root()
    q182.compute_root()
    q183.compute_root()
    q184.compute_root()
    q185.compute_root()
    q186.compute_root()
    q187.compute_root()
    q188.compute_root()
    q189.compute_root()
    q190.compute_root()
    q191.compute_root()
    q192.compute_root()
    q193.compute_root()
    q194.compute_root()
    q195.compute_root()
    q196.compute_root()
    q197.compute_root()
    q198.compute_root()
    q199.compute_root()
    q200.compute_root()
    q201.compute_root()
    q202.compute_root()
    q203.compute_root()
    q204.compute_root()
    q205.compute_root()
    q206.compute_root()
    q207.compute_root()
    q208.compute_root()
    q209.compute_root()
    q210.compute_root()
    q211.compute_root()
    q212.compute_root()
    q213.compute_root()
    q214.compute_root()
    q215.compute_root()
    q216.compute_root()
    q217.compute_root()
    q218.compute_root()
    q219.compute_root()
    q220.compute_root()
    q221.compute_root()
    q222.compute_root()
    q223.compute_root()
    q224.compute_root()
    q225.compute_root()
    q226.compute_root()
    q227.compute_root()
    q228.compute_root()
    q229.compute_root()
    q230.compute_root()
    q231.compute_root()
    q232.compute_root()
    q233.compute_root()
    q234.compute_root()
    q235.compute_root()
    q236.compute_root()
    q237.compute_root()
    q238.compute_root()
    q239.compute_root()
    q240.compute_root()
    q241.compute_root()
    q242.compute_root()
    q243.compute_root()
    q244.compute_root()
    q245.compute_root()
    q246.compute_root()
    q247.compute_root()
    q248.compute_root()
    q249.compute_root()
    q250.compute_root()
    q251.compute_root()
    q252.compute_root()
    q253.compute_root()
    q254.compute_root()
    q255.compute_root()
    q256.compute_root()
    q257.compute_root()
    q258.compute_root()
    q259.compute_root()
    q260.compute_root()
    q261.compute_root()
    q262.compute_root()
    q263.compute_root()
    q264.compute_root()
    q265.compute_root()
    q266.compute_root()
    q267.compute_root()
    q268.compute_root()
    q269.compute_root()
    q270.compute_root()
    q271.compute_root()
    q272.compute_root()
    q273.compute_root()
    q274.compute_root()
    q275.compute_root()
    q276.compute_root()
    q277.compute_root()
    q278.compute_root()
    q279.compute_root()
    q280.compute_root()
    q281.compute_root()
    q282.compute_root()
    q283.compute_root()
    q284.compute_root()
    q285.compute_root()
    q286.compute_root()
    q287.compute_root()
    q288.compute_root()
    q289.compute_root()
    q290.compute_root()
    q291.compute_root()
    q292.compute_root()
    q293.compute_root()
    q294.compute_root()
    q295.compute_root()
    q296.compute_root()
    q297.compute_root()
    q298.compute_root()
    q299.compute_root()
}
