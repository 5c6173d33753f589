"""``python -m cuscope bench``: times of cuscope, beside the same work by other packages. See docs/benchmarks.md."""
