/* Stands in for libcuda.so.1, with its types: PTX is the path of a library, whose `run_NAME` is the kernel NAME. */
#include <dlfcn.h>
#include <stdio.h>

typedef void Run(unsigned blocks, unsigned threads, void **of);

static void *current;
unsigned long long launched[9];   /* geometry, shared memory, stream, extra */

int cuInit(unsigned flags) { return flags ? 1 : 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal + 3; return 0; }
int cuCtxGetCurrent(void **context) { *context = current; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = &launched; return device == 3 ? 0 : 101; }
int cuCtxSetCurrent(void *context) { current = context; return context == &launched ? 0 : 201; }
int cuCtxGetDevice(int *device) { *device = 3; return current ? 0 : 201; }
int cuModuleLoadData(void **module, const void *ptx) { *module = dlopen(ptx, RTLD_NOW); return *module ? 0 : 218; }
int cuGetErrorString(int status, const char **text) { *text = "not a library"; return status ? 0 : 1; }

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    char symbol[200];
    snprintf(symbol, sizeof symbol, "run_%s", name);
    *function = dlsym(module, symbol);
    return *function ? 0 : 500;
}

int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned y_threads,
                   unsigned z_threads, unsigned shared, void *stream, void **of, void **extra)
{
    unsigned long long found[] = {x, y, z, threads, y_threads, z_threads, shared, (size_t)stream, (size_t)extra};
    for (int k = 0; k < 9; k++) launched[k] = found[k];
    ((Run *)function)(x, threads, of);
    return 0;
}
