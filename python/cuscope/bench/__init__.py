"""``python -m cuscope bench``: what things take, beside the same by other packages. docs/benchmarks.md says how."""
