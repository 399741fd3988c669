#if defined(__x86_64__) && defined(__GNUC__)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define REGISTER 32
#define TILE 3
#define ISA(f) f##_avx2
#define ISA_NAME "avx2"
#include "isa.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
