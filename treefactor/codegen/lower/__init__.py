"""Lower programs to instructions of the interpreter: fusion, ordering, register allocation."""
