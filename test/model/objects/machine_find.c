/* Machines and their devices, by name. */
#include "machine_find.h"

struct machine *fleet_find(struct sim *s, const char *name)
{
	vec_for_each (struct machine, m, &s->fleet.machines) {
		if (text_equals(m->name, name) && !m->gone) {
			return m;
		}
	}
	return NULL;
}

struct device *fleet_device(struct sim *s, const char *uuid)
{
	vec_for_each (struct machine, m, &s->fleet.machines) {
		for (int i = 0; i < m->device_count; i++) {
			if (text_equals(m->devices[i].uuid, uuid)) {
				return &m->devices[i];
			}
		}
	}
	return NULL;
}

bool fleet_is_doubled(struct sim *s, const char *uuid)
{
	vec_for_each (struct machine, m, &s->fleet.machines) {
		if (m->doubled && text_equals(m->devices[0].uuid, uuid)) {
			return true;
		}
	}
	return false;
}
