/* What goes wrong in a run and how often, and what people and their work are like; per mille unless
 * said otherwise. The seed draws it. */
#ifndef SIM_WEATHER_H
#define SIM_WEATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "objects/weather_parts.h"

struct sim;

void weather_draw(struct sim *s);
void weather_start(struct sim *s); /* spells come from now on */
void weather_calm(struct sim *s);  /* nothing goes wrong any more */

#endif
