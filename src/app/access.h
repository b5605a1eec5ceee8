/* May pods be made beside others (C24)? The leader asks the API server, which knows whether the
 * overlay surge is applied; a person may apply it, and take it back, at any time. */
#ifndef APP_ACCESS_H
#define APP_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "kube/client.h"
#include "sizer/sizer.h"

struct access;

struct access *access_create(struct kube *kube); /* borrowed */
void access_destroy(struct access *a);
/* Who does not lead forgets what he was told. */
void access_step(struct access *a, int64_t now_mono_ms, bool leads);
int64_t access_deadline(const struct access *a);
enum sizer_surge access_surge(const struct access *a);

#endif
