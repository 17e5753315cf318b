/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel-convolution: the program that ravel starts for the verb convolution.
 */
#include "tools/tool.h"

int main(int argc, char **argv)
{
        tool_start();
        tool_set_verb("convolution");
        return tool_convolution(argc, argv);
}
