# The documents as a site, in build/docs/html. It needs the installed package with its extra: pip install '.[docs]'
.PHONY: docs
docs:
	$(MAKE) -C docs html
