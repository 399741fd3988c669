/* CHOOSE(Type, f) defines f_for(name): the table f that was compiled for the instruction set of that name. */
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define CHOOSE(Type, f)                                         \
    static const Type *f##_for(const char *name)                \
    {                                                           \
        if (!strcmp(name, f##_avx512.name)) return &f##_avx512; \
        if (!strcmp(name, f##_avx2.name)) return &f##_avx2;     \
        return &f##_baseline;                                   \
    }
#else
#define CHOOSE(Type, f)                                                       \
    static const Type *f##_for(const char *name) { return &f##_baseline; }
#endif
