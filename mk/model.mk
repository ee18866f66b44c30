# Models of protocols (tools/model), of which Spin searches all states. Not part of the tests.
#
#   DEEP=1    larger bounds: minutes, and some GB of memory

.PHONY: model-check

model-check: ## Search all states of the models of leases and sessions; find the planted bugs
	$(Q)./script/deps model
	$(Q)$(PYTHON) tools/model_check.py --jobs $(JOBS) --compiler '$(CC)' $(if $(DEEP),--deep)
