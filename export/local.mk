# export: for other programs
libravel_a_SOURCES += \
	%D%/conventions.c \
	%D%/export-chrome.c \
	%D%/export-folded.c \
	%D%/export-otlp.c \
	%D%/export-requests.c \
	%D%/export-tsv.c \
	%D%/export-wireshark.c \
	%D%/export.c
