# store: the database of what was found
libravel_a_SOURCES += \
	%D%/join-stores.c \
	%D%/store-columns.c \
	%D%/store-error.c \
	%D%/store-layout.c \
	%D%/store-open.c \
	%D%/store-query.c \
	%D%/store-views.c \
	%D%/store.c \
	%D%/stored-patterns.c \
	%D%/stored-rows.c \
	%D%/stored-run.c \
	%D%/stored-set.c
