/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whether a path that comes back to a node fits what the node has seen before. Where
 * messages go A>B>C>B>D there is a derived correlation (paper, section 5.3.1) of A>B with
 * B>D, whatever happened between. A path put together from pieces of others has none.
 */
#ifndef RAVEL_DERIVED_CORRELATION_H
#define RAVEL_DERIVED_CORRELATION_H

#include "convolution/joint/message-causes.h"

/* Whether n messages (1 or more) of one prefix fit. The messages that first led to their sender are
 * correlated with all messages that it sent the same way. FALSE if the n messages should show in
 * that correlation and do not. TRUE too if the sender is there for the first time, or if accident
 * may hide them. Linear in the messages of both edges. */
gboolean derived_correlation_fits(const MessageCauses *causes, const guint32 *messages, guint32 n);

#endif
