"""The algorithms of rigid-body dynamics on scalars of any type; on expressions they write programs."""
