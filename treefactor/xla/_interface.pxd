"""XLA's interface of foreign functions, and the table of known maps, from the C headers."""

from libc.stdint cimport int32_t, int64_t, uint32_t

cdef extern from "kernels/xla/interface.h" nogil:
    enum:
        XLA_MAJOR
        XLA_MINOR
        XLA_METADATA
        XLA_EXECUTE
        XLA_BUFFER
        XLA_SCALAR
        XLA_S64
        XLA_F32
        XLA_F64
        XLA_INVALID_ARGUMENT
        XLA_RESOURCE_EXHAUSTED
        XLA_FAILED_PRECONDITION
        XLA_INTERNAL

    ctypedef struct XlaError:
        pass

    ctypedef struct XlaExtension:
        size_t struct_size
        int32_t kind
        XlaExtension *next

    ctypedef struct XlaVersion:
        int32_t major_version, minor_version

    ctypedef struct XlaMetadata:
        XlaVersion version
        uint32_t traits

    ctypedef struct XlaMetadataExtension:
        XlaMetadata *metadata

    ctypedef struct XlaErrorRequest:
        size_t struct_size
        XlaExtension *extensions
        const char *message
        int32_t code

    ctypedef struct XlaApi:
        XlaError *(*create_error)(XlaErrorRequest *) noexcept nogil

    ctypedef struct XlaBuffer:
        int32_t dtype
        void *data
        int64_t rank
        int64_t *dims

    ctypedef struct XlaBuffers:
        int64_t count
        int32_t *kinds
        XlaBuffer **buffers

    ctypedef struct XlaName:
        const char *text
        size_t length

    ctypedef struct XlaScalar:
        int32_t dtype
        void *value

    ctypedef struct XlaAttributes:
        int64_t count
        int32_t *kinds
        XlaName **names
        void **values

    ctypedef struct XlaCall:
        XlaExtension *extensions
        const XlaApi *api
        int32_t stage
        XlaBuffers operands, results
        XlaAttributes attributes

cdef extern from "kernels/xla/known_maps.h" nogil:
    enum:
        XLA_MOST_AXES
        XLA_MOST_ARRAYS

    ctypedef struct ArrayShape:
        int64_t axes, size
        int64_t dims[XLA_MOST_AXES]

    ctypedef struct KnownMap:
        int64_t number
        void *map
        void *plan
        char *name
        int dtype
        int inputs, outputs
        ArrayShape shape[XLA_MOST_ARRAYS]

    const KnownMap *find_map(int64_t number)
    void add_map(KnownMap *map)
    int enter_python()
    void leave_python()
    int close_python()
