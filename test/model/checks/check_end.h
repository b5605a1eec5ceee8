/* The end of a run: whoever fits runs, and whoever waits says why. */
#ifndef SIM_CHECK_END_H
#define SIM_CHECK_END_H
#include "check.h"

bool check_settled(struct sim *s, struct str *why); /* everything that can happen has happened */

#endif
