"""Cases, strategies, comparisons and programs that several tests share."""
