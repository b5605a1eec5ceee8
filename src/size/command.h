/* Where an option can be put into a framework's command line. */
#ifndef SIZE_COMMAND_H
#define SIZE_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

struct container;

/* May an option of this framework stand at the end of the container's command line, so
 * that its server reads it? `ret_script` as in struct mutation. */
bool command_takes_option(const struct container *c, const char *framework, uint32_t *ret_script);

#endif
