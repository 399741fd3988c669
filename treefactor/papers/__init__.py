"""The five source papers: their algorithms on counting scalars (`textbook`), K (`kkt`), tables (`tables`)."""
