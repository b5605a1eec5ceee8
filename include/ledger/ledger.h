/* The books of who holds what, the picture that a step makes of them, and where it writes what it
 * decides: for whoever reads several of these. */
#ifndef LEDGER_LEDGER_H
#define LEDGER_LEDGER_H

#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "ledger/assigned_gpus.h"
#include "ledger/book.h"
#include "ledger/capacity_pod.h"
#include "ledger/emit.h"
#include "ledger/engine_config.h"
#include "ledger/eviction_hold.h"
#include "ledger/flight.h"
#include "ledger/kept_picture.h"
#include "ledger/keyed.h"
#include "ledger/landing.h"
#include "ledger/nouns.h"
#include "ledger/opening.h"
#include "ledger/pending_pod.h"
#include "ledger/picture.h"
#include "ledger/pod_object.h"
#include "ledger/resource_version.h"
#include "ledger/runtime.h"
#include "ledger/sharing_group.h"
#include "ledger/step_time.h"
#include "model/plan.h"
#include "place/place.h"
#include "world/world.h"

#endif
