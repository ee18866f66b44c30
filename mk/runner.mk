# Targets of the runner that are not parts of others.

.PHONY: runner-threaded-pipeline-example runner-release-checklist

runner-threaded-pipeline-example: build/examples/runner_threaded_pipeline_example ## Run the pipeline of four workers
	$(Q)cd build && examples/runner_threaded_pipeline_example

# Each step is a make of its own: most take only the tests whose names contain T.
runner-release-checklist: ## Check what a program can check before a release of the runner
	$(Q)$(MAKE) --no-print-directory schema-check symbols-check tidy
	$(Q)$(MAKE) --no-print-directory check T=runner
	$(Q)$(MAKE) --no-print-directory check T=wit
	$(Q)$(MAKE) --no-print-directory check T=migrate
	$(Q)$(MAKE) --no-print-directory asan T=runner
	$(Q)$(MAKE) --no-print-directory tsan T=runner
	$(Q)$(MAKE) --no-print-directory check-examples runner-multiwriter-stress
	@sed -n '/^By a person/,$$p' docs/internals/runner-release-checklist.md
