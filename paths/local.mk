# paths: the answer
libravel_a_SOURCES += \
	%D%/collapsed-tree.c \
	%D%/histogram.c \
	%D%/misassigned.c \
	%D%/missed-calls.c \
	%D%/node-hours.c \
	%D%/path-clocks.c \
	%D%/path-failure.c \
	%D%/path-graph.c \
	%D%/path-own-time.c \
	%D%/path-pattern.c \
	%D%/path-set.c \
	%D%/path-shape.c \
	%D%/path-text.c \
	%D%/pattern-entry.c \
	%D%/pattern-text.c \
	%D%/place-slots.c \
	%D%/times-log.c \
	%D%/verdict.c \
	%D%/way-cause.c
