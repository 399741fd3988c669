/* Choose the kernels for this processor: every table of kernels is compiled once for every instruction set. */
#include <string.h>

#include "compiled.h"

/* Write the names of the compiled instruction sets that this processor can run, the best one last; return their number. */
static inline int supported_isas(const char **name) {
    int count = 0;
    if (COMPILED(16)) name[count++] = "baseline";
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        if (COMPILED(32)) name[count++] = "avx2";
        if (COMPILED(64) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
            name[count++] = "avx512";
    }
#endif
    return count;
}

/* CHOOSE(Type, f) defines f_for(name): the table f that was compiled for the instruction set of that name. */
#if COMPILED(16) && COMPILED(64) && defined(__x86_64__) && defined(__GNUC__)
#define CHOOSE(Type, f)                                         \
    static const Type *f##_for(const char *name)                \
    {                                                           \
        if (!strcmp(name, f##_avx512.name)) return &f##_avx512; \
        if (!strcmp(name, f##_avx2.name)) return &f##_avx2;     \
        return &f##_baseline;                                   \
    }
#else
#if COMPILED(16)
#define COMPILED_TABLE(f) f##_baseline
#elif COMPILED(32)
#define COMPILED_TABLE(f) f##_avx2
#else
#define COMPILED_TABLE(f) f##_avx512
#endif
#define CHOOSE(Type, f) \
    static const Type *f##_for(const char *name) { return &COMPILED_TABLE(f); }
#endif
