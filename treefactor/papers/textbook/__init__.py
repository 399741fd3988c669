"""Mirror the papers' algorithms letter by letter, on scalars of any type, for tests and tables to count."""
