# base: what GLib lacks
libravel_a_SOURCES += \
	%D%/big-memory.c \
	%D%/binomial.c \
	%D%/bytes.c \
	%D%/compare.c \
	%D%/contingency.c \
	%D%/crew.c \
	%D%/error.c \
	%D%/exact-sum.c \
	%D%/hash.c \
	%D%/helper.c \
	%D%/json-reader.c \
	%D%/outcome.c \
	%D%/printable.c \
	%D%/sandbox.c \
	%D%/work.c
