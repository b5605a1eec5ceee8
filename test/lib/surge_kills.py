"""The writes of a surge at which the controller is killed: some in hack/test, all in hack/soak surges."""

import os

EVERY = ["%s %s" % (when, write) for write in ("SurgeTry", "SurgeCreate", "SurgeCheapen", "SurgeAdopt")
         for when in ("before", "after")]
EVERY_GIVEN_UP = ["before SurgeRestore", "after SurgeRestore", "before SurgeDrop", "after SurgeDrop"]


def taken(every, some):
    return every if os.environ.get("ALIQUOT_EVERY_KILL") else some


KILLS = taken(EVERY, ["after SurgeCreate", "after SurgeCheapen", "before SurgeAdopt"])
GIVEN_UP = taken(EVERY_GIVEN_UP, ["after SurgeRestore"])
