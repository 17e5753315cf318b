# tools: one file a verb
libravel_a_SOURCES += \
	%D%/advise.c \
	%D%/capture-options.c \
	%D%/capture-report.c \
	%D%/capture-run.c \
	%D%/capture-trace.c \
	%D%/capture.c \
	%D%/convolution.c \
	%D%/cut.c \
	%D%/diff.c \
	%D%/export.c \
	%D%/import.c \
	%D%/maketrace.c \
	%D%/merge.c \
	%D%/messages.c \
	%D%/nesting-report.c \
	%D%/nesting.c \
	%D%/options.c \
	%D%/progress.c \
	%D%/query.c \
	%D%/report.c \
	%D%/result.c \
	%D%/rights.c \
	%D%/run-files.c \
	%D%/run-verb.c \
	%D%/score.c \
	%D%/show.c \
	%D%/skewer.c \
	%D%/stats.c \
	%D%/tool.c \
	%D%/trend.c \
	%D%/variance.c \
	%D%/watch-input.c \
	%D%/watch.c \
	%D%/whatif.c \
	%D%/why.c
