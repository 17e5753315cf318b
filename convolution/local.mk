# convolution: edges to signals to correlations to paths
libravel_a_SOURCES += \
	%D%/clock-offsets.c \
	%D%/convolution.c \
	%D%/correlation-series.c \
	%D%/correlation.c \
	%D%/delay-profile.c \
	%D%/edge-signal.c \
	%D%/edge-trace.c \
	%D%/find-caused-messages.c \
	%D%/find-paths-from-root.c \
	%D%/find-roots.c \
	%D%/joint/collect-joint-paths.c \
	%D%/joint/delay-window.c \
	%D%/joint/find-joint-paths.c \
	%D%/joint/matching.c \
	%D%/joint/message-causes.c \
	%D%/joint/node-causes.c \
	%D%/joint/prefix-tree.c \
	%D%/joint/trace-sample.c \
	%D%/joint/work-order.c \
	%D%/process-node.c \
	%D%/spike.c
