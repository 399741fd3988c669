/* Gives a C compiler the words of CUDA that generated kernels use; `run_NAME` runs all threads, one after another. */
#define _GNU_SOURCE
#include <math.h>

#define KERNEL static
#define BLOCK static
#define INLINE static inline __attribute__((unused))
#define UNROLL

typedef struct { unsigned x; } Index;
static Index blockIdx, blockDim, threadIdx;

#define RUN(name, call) \
    void run_##name(unsigned blocks, unsigned threads, void **of) \
    { \
        blockDim.x = threads; \
        for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) \
            for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++) call; \
    }
