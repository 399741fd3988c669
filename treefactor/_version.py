"""The version, known without looking for the package's metadata, which takes longer than importing it."""

__version__ = "0.1.0"
