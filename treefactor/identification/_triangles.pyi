import numpy as np

def update(
    first: np.ndarray,
    second: np.ndarray,
    counts: np.ndarray,
    columns: np.ndarray,
    uses: np.ndarray,
    triangles: np.ndarray,
) -> None: ...
