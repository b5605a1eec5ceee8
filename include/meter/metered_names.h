/* Names of sources and engines, as labels and pages show them. */
#ifndef METER_METERED_NAMES_H
#define METER_METERED_NAMES_H

#include "model/metered.h"

const char *metered_source_name(enum metered_source source);
const char *app_engine_name(enum app_engine engine);

#endif
