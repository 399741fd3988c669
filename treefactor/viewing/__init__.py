"""Look at robots by their shapes: pictures by Matplotlib, and pages with motions in 3D by viser.

`surfaces` makes triangles of shapes, `pictures` draws them, and `pages` writes them into an HTML file.
"""

from .pages import write_page
from .pictures import plot
from .surfaces import surface

__all__ = ["plot", "surface", "write_page"]
