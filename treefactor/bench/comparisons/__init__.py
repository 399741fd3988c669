"""Compare times with peers, one module for each subject of `treefactor bench`."""
