/* Who refused a write: an admission policy or a webhook of the cluster, by its name, taken from the
 * sentence in which the API server says so. A webhook that could not be called has refused nothing.
 */
#ifndef MODEL_REFUSAL_H
#define MODEL_REFUSAL_H

#include <stdbool.h>

#include "model/reason.h"

#define REFUSAL_NAME_MAX 96 /* what is longer is cut */

/* `message` is that of a fault; NULL: there is none. False: nobody is named, and ret_name is "".
 * The name has printable ASCII alone. */
bool refusal_by_policy(const char *message, char ret_name[REFUSAL_NAME_MAX]);
/* What it said, without the sentence about it; the message where there is no such part. */
const char *refusal_words(const char *message);
/* PolicyRefused or ApiRefused. */
enum reason refusal_reason(const char *message);

#endif
