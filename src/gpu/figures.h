/* One look's figures of a device: its own, and what it says of its health. */
#ifndef GPU_FIGURES_H
#define GPU_FIGURES_H

#include "sampler_parts.h"

void look_figures(struct look *l);
void look_health(struct look *l); /* last: `ill` */
void look_gpm(struct look *l);
void look_samples(struct look *l); /* after GPM, which is better */

#endif
