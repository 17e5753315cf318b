# clocks: moved and compared
libravel_a_SOURCES += \
	%D%/both-ends.c \
	%D%/call-offsets.c \
	%D%/clock-pair.c \
	%D%/clocks.c \
	%D%/message-offsets.c \
	%D%/skewer.c
