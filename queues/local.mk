# queues: which job a worker's call is for
libravel_a_SOURCES += \
	%D%/find-lanes.c \
	%D%/open-stays.c \
	%D%/work-in-lanes.c \
	%D%/work-in-turn.c \
	%D%/worker-calls.c
