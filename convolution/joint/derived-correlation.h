/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whether a path that comes back to a node fits what the node has seen before. Where
 * messages go A>B>C>B>D there is a derived correlation (paper, section 5.3.1) of A>B with
 * B>D, whatever happened between. A path put together from pieces of others has none.
 */
#ifndef RAVEL_DERIVED_CORRELATION_H
#define RAVEL_DERIVED_CORRELATION_H

#include "convolution/joint/message-causes.h"

/* FALSE where n messages (1 or more) of one prefix should be seen in the correlation of the
 * messages that led first to the node that sent them, with all that it sent the same way,
 * and are not. TRUE too where the node is there for the first time or where accident may
 * hide them. Linear in the messages of both edges. */
gboolean derived_correlation_fits(const MessageCauses *causes, const guint32 *messages, guint32 n);

#endif
