/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A test of paths that come back to a node. If messages go A>B>C>B>D, there is a derived
 * correlation (paper, section 5.3.1) of A>B with B>D, whatever happens in between. A path that was
 * put together from pieces of other paths has none.
 */
#pragma once

#include "convolution/joint/message-causes.h"

/* Whether n messages (1 or more) of one prefix fit. The messages that first led to their sender are
 * correlated with all messages that it sent the same way. FALSE if the n messages should show in
 * that correlation and do not. Also TRUE if the path visits the sender for the first time, or if
 * accident may hide the messages. Linear in the messages of both edges. */
gboolean derived_correlation_fits(const MessageCauses *causes, const guint32 *messages, guint32 n);
