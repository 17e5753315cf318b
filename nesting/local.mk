# nesting: messages to call pairs to parents to paths
libravel_a_SOURCES += \
	%D%/calls-at-nodes.c \
	%D%/drawn-paths.c \
	%D%/explanation.c \
	%D%/find-call-paths.c \
	%D%/find-nested-pairs.c \
	%D%/find-true-parents.c \
	%D%/late-calls.c \
	%D%/models.c \
	%D%/moved-messages.c \
	%D%/nesting-options.c \
	%D%/nesting-run.c \
	%D%/nesting.c \
	%D%/node-calls.c \
	%D%/node-tasks.c \
	%D%/score-nestings.c \
	%D%/scoreboard.c \
	%D%/windows.c
