/* XLA's interface of foreign functions, version 0.1: the structs of C that its runtime passes to a handler.
 *
 * Only what our handler reads or writes is declared; structs that grow at their end in later versions are read
 * through pointers, so that 0.1 fits all of them. tests/xla/test_layout.py compares the offsets with those of
 * the installed jaxlib.
 */
#ifndef TREEFACTOR_XLA_INTERFACE_H
#define TREEFACTOR_XLA_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

enum { XLA_MAJOR = 0, XLA_MINOR = 1 };                  /* the version our handler declares */
enum { XLA_METADATA = 1 };                              /* kinds of extensions */
enum { XLA_EXECUTE = 3 };                               /* stages of a call */
enum { XLA_BUFFER = 1, XLA_SCALAR = 3 };                /* kinds of operands and results; of attributes */
enum { XLA_S64 = 5, XLA_F32 = 11, XLA_F64 = 12 };       /* types of elements */
enum { XLA_INVALID_ARGUMENT = 3, XLA_RESOURCE_EXHAUSTED = 8, XLA_FAILED_PRECONDITION = 9, XLA_INTERNAL = 13 };

typedef struct XlaError XlaError;                       /* owned by XLA */

typedef struct XlaExtension {
    size_t struct_size;
    int32_t kind;
    struct XlaExtension *next;
} XlaExtension;

typedef struct {
    size_t struct_size;
    XlaExtension *extensions;
    int32_t major_version, minor_version;
} XlaVersion;

typedef struct {
    size_t struct_size;
    XlaVersion version;
    uint32_t traits;
} XlaMetadata;

typedef struct {
    XlaExtension base;
    XlaMetadata *metadata;
} XlaMetadataExtension;

typedef struct {
    size_t struct_size;
    XlaExtension *extensions;
    const char *message;
    int32_t code;
} XlaErrorRequest;

typedef struct {
    size_t struct_size;
    XlaExtension *extensions;
    XlaVersion version;
    const void *internal;
    XlaError *(*create_error)(XlaErrorRequest *);
} XlaApi;                                               /* more functions follow */

typedef struct {
    size_t struct_size;
    XlaExtension *extensions;
    int32_t dtype;
    void *data;                                         /* rows of the last axis are contiguous, and so on */
    int64_t rank;
    int64_t *dims;
} XlaBuffer;

typedef struct {
    size_t struct_size;
    XlaExtension *extensions;
    int64_t count;
    int32_t *kinds;
    XlaBuffer **buffers;
} XlaBuffers;                                           /* operands or results */

typedef struct {
    const char *text;                                   /* not terminated */
    size_t length;
} XlaName;

typedef struct {
    int32_t dtype;
    void *value;
} XlaScalar;

typedef struct {
    size_t struct_size;
    XlaExtension *extensions;
    int64_t count;
    int32_t *kinds;
    XlaName **names;
    void **values;                                      /* XlaScalar * where the kind is XLA_SCALAR */
} XlaAttributes;

typedef struct {
    size_t struct_size;
    XlaExtension *extensions;
    const XlaApi *api;
    void *context;
    int32_t stage;
    XlaBuffers operands, results;
    XlaAttributes attributes;
} XlaCall;

#endif
