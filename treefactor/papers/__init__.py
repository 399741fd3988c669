"""The five source papers: their algorithms on counting scalars (`textbook`) and their tables (`tables`)."""
