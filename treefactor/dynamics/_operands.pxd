"""Short path of ``treefactor.tree._operands``."""

from ..tree._operands cimport (
    ALIGNED, LANES, Operand, align, describe, load, overlap, read_matrix_operand, read_operand,
)
