# tracefmt: the words
libravel_a_SOURCES += \
	%D%/attributes.c \
	%D%/byte-source.c \
	%D%/call-delays.c \
	%D%/doubt.c \
	%D%/file-kind.c \
	%D%/fitness.c \
	%D%/fold-clients.c \
	%D%/merge.c \
	%D%/message.c \
	%D%/node-table.c \
	%D%/output-file.c \
	%D%/overlap.c \
	%D%/reorder.c \
	%D%/sorted-runs.c \
	%D%/stamp.c \
	%D%/trace-clocks.c \
	%D%/trace-reader.c \
	%D%/trace-writer.c
