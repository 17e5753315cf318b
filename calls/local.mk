# calls: call pairs, their order, labels, candidates, trees
libravel_a_SOURCES += \
	%D%/call-column.c \
	%D%/call-connections.c \
	%D%/call-facts.c \
	%D%/call-identifiers.c \
	%D%/call-labels.c \
	%D%/call-links.c \
	%D%/call-order.c \
	%D%/call-pair.c \
	%D%/call-tree.c \
	%D%/candidates.c \
	%D%/edge-roles.c \
	%D%/edge-table.c \
	%D%/find-call-pairs.c \
	%D%/forwarded.c \
	%D%/known-calls.c \
	%D%/lone-messages.c \
	%D%/open-calls.c
