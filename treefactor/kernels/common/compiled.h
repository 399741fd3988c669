/* COMPILED(bytes) is true for instruction sets whose kernels are compiled: all, or with ONLY the one whose registers have
 * ONLY bytes. setup.py writes only.h, which defines ONLY in a build for one machine. */
#ifndef TREEFACTOR_COMPILED_H
#define TREEFACTOR_COMPILED_H

#if !defined(ONLY) && defined(__has_include)
#if __has_include("only.h")
#include "only.h"
#endif
#endif

#ifdef ONLY
#define COMPILED(bytes) (ONLY == (bytes))
#else
#define COMPILED(bytes) 1
#endif

#endif
