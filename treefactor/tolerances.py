"""Every tolerance of treefactor, named, with its meaning; comparisons hold no bare numbers."""

# relative to the largest entry of H: mirrored entries count as equal, entries outside the pattern as zero
SYMMETRY = 1e-12
PATTERN = 1e-12
