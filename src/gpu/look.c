/* What NVML's return codes mean for one look at a device. */
#include "look.h"

bool look_took(struct look *l, int code, const char *call)
{
	switch (nvml_meaning(code)) {
	case MEANS_DONE:
		return true;
	case MEANS_DEAF:
		l->deaf = true;
		/* fall through */
	case MEANS_LOST:
		(void)nvml_fault(&l->reading->fault, code, call);
		l->reading->answered = false;
		return false;
	case MEANS_TROUBLE:
		l->sample->errors++;
		return false;
	case MEANS_LACKING:
	case MEANS_REFUSED:
		break;
	}
	return false;
}
