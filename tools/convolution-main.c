/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel-convolution: the verb of that name, which ravel becomes where it is asked for it.
 */
#include "tools/tool.h"

int main(int argc, char **argv)
{
        tool_start();
        tool_set_verb("convolution");
        return tool_convolution(argc, argv);
}
