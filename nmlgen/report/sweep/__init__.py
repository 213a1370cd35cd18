"""The page of a sweep: what its runs took, against what was predicted, and which layout is best."""
