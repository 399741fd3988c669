#if defined(__x86_64__) && defined(__GNUC__)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,fma")
#endif
#define REGISTER 64
#define TILE 4
#define ISA(f) f##_avx512
#define ISA_NAME "avx512"
#include "isa.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
