/* Where the process begins. */
#include <stdio.h>

int main(void)
{
	puts("aliquot " ALIQUOT_VERSION);
	return 0;
}
