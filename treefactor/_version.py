"""The version, stored here because reading the package's metadata takes longer than the import."""

__version__ = "0.2.0"
