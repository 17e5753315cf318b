# queues: which job a worker's call is for
libravel_a_SOURCES += \
	%D%/job-model.c \
	%D%/open-stays.c \
	%D%/work-in-processes.c \
	%D%/work-in-turn.c \
	%D%/worker-calls.c \
	%D%/worker-processes.c
