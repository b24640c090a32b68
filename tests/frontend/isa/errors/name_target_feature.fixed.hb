target mine "my processor" uses avx512vnni
