# analysis: what is asked of stores
libravel_a_SOURCES += \
	%D%/advise/advise.c \
	%D%/advise/proposals.c \
	%D%/advise/replicas.c \
	%D%/diff-rows.c \
	%D%/diff-times.c \
	%D%/diff.c \
	%D%/report/report-calls.c \
	%D%/report/report.c \
	%D%/score.c \
	%D%/share-test.c \
	%D%/trend/find-trend.c \
	%D%/trend/trend-condition.c \
	%D%/trend/trend-own.c \
	%D%/trend/trend-series.c \
	%D%/trend/trend-stores.c \
	%D%/variance/exact-moments.c \
	%D%/variance/node-load.c \
	%D%/variance/variance-rows.c \
	%D%/variance/variance-sums.c \
	%D%/variance/variance.c \
	%D%/whatif/alter.c \
	%D%/whatif/asking.c \
	%D%/whatif/changes.c \
	%D%/whatif/clients.c \
	%D%/whatif/figures.c \
	%D%/whatif/replay.c \
	%D%/whatif/requests.c \
	%D%/whatif/whatif.c \
	%D%/why/why-failed.c \
	%D%/why/why-kinds.c \
	%D%/why/why-packets.c \
	%D%/why/why-pauses.c \
	%D%/why/why-requests.c \
	%D%/why/why-shared.c \
	%D%/why/why-tags.c \
	%D%/why/why-waiting.c
