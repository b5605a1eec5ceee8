/* The books of who holds what, the picture that a step makes of them, and where it writes what it
 * decides: for whoever reads several of these. */
#ifndef ENGINE_LEDGER_H
#define ENGINE_LEDGER_H

#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "engine/engine_config.h"
#include "model/plan.h"
#include "place/place.h"
#include "world/world.h"
#include "assigned_gpus.h"
#include "book.h"
#include "capacity_pod.h"
#include "emit.h"
#include "eviction_hold.h"
#include "flight.h"
#include "kept_picture.h"
#include "landing.h"
#include "nouns.h"
#include "opening.h"
#include "pending_pod.h"
#include "picture.h"
#include "pod_object.h"
#include "resource_version.h"
#include "runtime.h"
#include "sharing_group.h"
#include "step_time.h"

#endif
