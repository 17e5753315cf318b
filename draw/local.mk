# draw: what is drawn by Graphviz
libravel_a_SOURCES += %D%/draw.c
