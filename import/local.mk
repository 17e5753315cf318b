# import: what other programs know, as a trace
libravel_a_SOURCES += \
	%D%/json-text.c \
	%D%/mail-clocks.c \
	%D%/mail.c \
	%D%/read-jaeger.c \
	%D%/read-otlp.c \
	%D%/read-zipkin.c \
	%D%/received.c \
	%D%/span-calls.c \
	%D%/span-hold.c \
	%D%/span-messages.c \
	%D%/span-trace.c \
	%D%/span.c \
	%D%/spans.c \
	%D%/tshark.c
