# maketrace: tracelets to messages
libravel_a_SOURCES += \
	%D%/delay-law.c \
	%D%/generator.c \
	%D%/key-file.c \
	%D%/random.c \
	%D%/scenario.c \
	%D%/server.c \
	%D%/text-cursor.c \
	%D%/tracelet.c
