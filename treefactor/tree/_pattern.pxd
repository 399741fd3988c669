"""Declare the shape of a tree as kernels take it, and the kernels in use."""

cdef extern from "kernels/linalg/kernels.h" nogil:
    ctypedef struct Block:
        Py_ssize_t rows
        Py_ssize_t depth
        Py_ssize_t node[4]
        Py_ssize_t below
        Py_ssize_t stop

    ctypedef struct Panel:
        Py_ssize_t rows
        Py_ssize_t depth
        Py_ssize_t first
        Py_ssize_t stop

    ctypedef struct Row:
        Py_ssize_t first
        Py_ssize_t diagonal

    ctypedef struct Supernode:
        Py_ssize_t chain
        Py_ssize_t leaves
        Py_ssize_t depth
        Py_ssize_t first
        Py_ssize_t at
        Py_ssize_t width

    ctypedef struct Task:
        Py_ssize_t first
        Py_ssize_t stop
        Py_ssize_t at
        Py_ssize_t size

    ctypedef struct Run:
        Py_ssize_t row
        Py_ssize_t column
        Py_ssize_t length
        Py_ssize_t at

    ctypedef struct Shape:
        Py_ssize_t n
        Py_ssize_t deepest
        const Py_ssize_t *parent
        const Py_ssize_t *order
        const Py_ssize_t *start
        const Py_ssize_t *depth
        const Py_ssize_t *column
        Py_ssize_t blocks
        const Block *block
        Py_ssize_t supernodes
        const Supernode *supernode
        Py_ssize_t tasks
        const Task *task
        Py_ssize_t scratch
        const Py_ssize_t *at
        Py_ssize_t padded
        Py_ssize_t path
        Py_ssize_t runs
        const Run *run
        Py_ssize_t whole
        const Row *row
        Py_ssize_t panels
        const Panel *panel

    ctypedef struct Piece:
        Py_ssize_t entry
        Py_ssize_t length
        Py_ssize_t at
        Py_ssize_t whole

    enum Operation:
        SOLVE
        SOLVE_L
        SOLVE_LT
        MULTIPLY_L
        MULTIPLY_LT
        HALF_SOLVE
        MULTIPLY

    ctypedef struct LaneKernels:
        int lanes
        int side
        void (*load)(Py_ssize_t m, int count, const char *source, Py_ssize_t to_lane, void *X) noexcept nogil
        void (*load_apart)(Py_ssize_t m, int count, const char *source, Py_ssize_t to_lane,
                           Py_ssize_t to_entry, void *X) noexcept nogil
        void (*gather)(Py_ssize_t pieces, const Piece *, int count, const char *source, Py_ssize_t to_lane,
                       void *X) noexcept nogil
        void (*store)(Py_ssize_t m, int count, const void *X, char *to, Py_ssize_t to_lane) noexcept nogil
        void (*unpack)(Py_ssize_t m, const int *at, int count, const void *X, char *to,
                       Py_ssize_t to_lane) noexcept nogil
        void (*factor)(const Shape *, const void *H, void *X, void *inverse, void *scratch,
                       Py_ssize_t *failed) noexcept nogil
        void (*to_ltl)(const Shape *, void *X, void *inverse) noexcept nogil
        void (*apply)(const Shape *, const void *X, const void *inverse, int ltdl, int op, void *x,
                      Py_ssize_t r) noexcept nogil
        void (*multiply)(const Shape *, const void *H, const void *x, void *y, Py_ssize_t r) noexcept nogil
        void (*gram)(Py_ssize_t n, Py_ssize_t m, const void *W, void *G) noexcept nogil
        void (*invert)(const Shape *, const void *X, const void *inverse, int ltdl, void *Z, void *V,
                       void *Y) noexcept nogil
        void (*solve_pair)(const Shape *, const void *X, const void *inverse, const void *P, void *y,
                           void *Y) noexcept nogil

    ctypedef struct SingleKernels:
        void (*load)(const Shape *, const char *H, Py_ssize_t to_row, Py_ssize_t to_column,
                     double *X) noexcept nogil
        void (*load_packed)(const Shape *, const char *H, Py_ssize_t to_entry, Py_ssize_t first,
                            double *X) noexcept nogil
        Py_ssize_t (*factor)(const Shape *, Py_ssize_t first, Py_ssize_t stop, const double *H,
                             Py_ssize_t whole, double *path, double *X, double *D,
                             double *inverse) noexcept nogil
        void (*to_ltl)(const Shape *, double *X, double *D, double *inverse) noexcept nogil
        void (*apply)(const Shape *, const double *X, const double *D, const double *inverse, int ltdl,
                      int op, double *x, double *path) noexcept nogil
        void (*invert)(const Shape *, const double *X, const double *inverse, int ltdl,
                       double *Y) noexcept nogil
        void (*solve_many)(const Shape *, const double *X, const double *inverse, double *x,
                           Py_ssize_t r) noexcept nogil

    ctypedef struct Workspace:
        double *X
        double *path
        double *D
        double *inverse

    Py_ssize_t workspace_size(const Shape *)
    Workspace carve_workspace(const Shape *, double *memory)
    void clear_workspace(const Shape *, const Workspace *)

    ctypedef struct Front:
        Py_ssize_t first
        Py_ssize_t width
        Py_ssize_t size
        Py_ssize_t stride
        Py_ssize_t index
        Py_ssize_t at
        Py_ssize_t above
        Py_ssize_t entries
        Py_ssize_t rows

    enum:
        PANEL

    ctypedef struct FrontKernels:
        Py_ssize_t (*eliminate)(const Front *, double *F, double *inverse) noexcept nogil
        void (*extend_add)(const Front *, const double *U, const Py_ssize_t *at, const Front *above,
                           double *F) noexcept nogil
        void (*rank_one_update)(const Front *, double *F, Py_ssize_t count, const Py_ssize_t *at,
                                const double *z, double weight) noexcept nogil
        void (*solve)(Py_ssize_t count, const Front *, const Py_ssize_t *index, const double *values,
                      const double *inverse, double *x) noexcept nogil
        void (*line_search_sums)(Py_ssize_t m, const double *gap, const double *other, const double *impulse,
                                 const double *upper, double delta, double t, double *sums) noexcept nogil
        Py_ssize_t (*eliminate_indefinite)(const Front *, double *F, double *inverse) noexcept nogil

    ctypedef struct Kernels:
        const char *name
        const SingleKernels *single
        const FrontKernels *fronts
        int tile
        const LaneKernels *lanes
        const LaneKernels *lanes_float
        int rows

cdef enum:
    FACTORIZED = -1              # status of a matrix that did not fail
    UNTOUCHED = -2

cdef const Kernels *active   # chosen at import

cdef class Pattern:
    cdef Shape shape
    cdef object kept             # arrays that shape points to
    cdef dict packed             # arrays that `packed_entries` points to

    cdef Py_ssize_t cut(self, Block *block, Py_ssize_t[::1] size)
    cdef Py_ssize_t group(self, Supernode *supernode, Py_ssize_t[::1] size, Py_ssize_t[::1] task)
    cdef Py_ssize_t place(self, Supernode *supernode, Py_ssize_t *at)
    cdef const int *packed_entries(self, bint pair) except NULL
    cdef Py_ssize_t find_runs(self, Run *run) noexcept
    cdef Py_ssize_t cut_evenly(self, Panel *panel, Py_ssize_t[::1] size)
