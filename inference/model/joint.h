/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The nouns of one node problem, or of a part, side by side. Each noun is written by its own file
 * alone. docs/model.md has the model.
 */
#pragma once

typedef struct Assignment Assignment;
typedef struct Beliefs Beliefs;
typedef struct Kinds Kinds;
typedef struct Learning Learning;
typedef struct NodeModel NodeModel;
typedef struct Problem Problem;
typedef struct Scores Scores;
typedef struct Trellis Trellis;

typedef struct Joint {
        Problem *problem;       /* problem.h: calls, candidates, outputs */
        NodeModel *model;       /* node-model.h: all that is learned */
        Kinds *kinds;           /* kinds.h: what is learned apart */
        Assignment *assignment; /* assignment.h: each call's parent */
        Trellis *trellis;       /* trellis.h: sums over families; room to work in */
        Beliefs *beliefs;       /* beliefs.h: messages of belief propagation */
        Scores *scores;         /* calibrate.h: what comes out, by candidate */
        Learning *learning;     /* learn.h: what is learned from */
} Joint;
