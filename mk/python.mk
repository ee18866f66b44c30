# The Python package, and the example worlds.

.PHONY: python-test

python-test: build/sapling ## Run the tests of the Python package and of the example worlds
	$(Q)CC='$(CC)' $(PYTHON) tests/python/run.py --jobs $(JOBS) $(T)
