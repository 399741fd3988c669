/* HOLD(x) keeps x in a register: GCC 12 reads a number that is used up to three times from memory again each time, and
 * loops over small tiles are bound by loads. */
#ifndef TREEFACTOR_HOLD_H
#define TREEFACTOR_HOLD_H

#if defined(__x86_64__)
#define HOLD(x) __asm__("" : "+v"(x))
#elif defined(__aarch64__)
#define HOLD(x) __asm__("" : "+w"(x))
#else
#define HOLD(x)
#endif

#endif
