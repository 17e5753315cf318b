# watch: what ravel watch does with closed windows
libravel_a_SOURCES += \
	%D%/alert-condition.c \
	%D%/alert-hook.c \
	%D%/alerts.c \
	%D%/consumers.c \
	%D%/hours.c \
	%D%/lines.c \
	%D%/metrics-server.c \
	%D%/metrics.c \
	%D%/ring.c \
	%D%/screen.c \
	%D%/screen-data.c \
	%D%/screen-draw.c \
	%D%/screen-view.c \
	%D%/service.c \
	%D%/stores.c \
	%D%/traces.c \
	%D%/watch-state.c \
	%D%/window.c
