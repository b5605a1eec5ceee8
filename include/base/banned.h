/* Functions that are not used in this tree, and what is used instead. Included by every .c through
 * the build (-include), so that a use is an error at compile time. */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BANNED(name) sorry_##name##_is_not_used_here

#undef strcpy
#define strcpy(...) BANNED(strcpy) /* str_append_text */
#undef strcat
#define strcat(...) BANNED(strcat)
#undef strncpy
#define strncpy(...) BANNED(strncpy)
#undef strtok
#define strtok(...) BANNED(strtok) /* view_next */
#undef sprintf
#define sprintf(...) BANNED(sprintf) /* snprintf, str_append_format */
#undef vsprintf
#define vsprintf(...) BANNED(vsprintf)
#undef atoi
#define atoi(...) BANNED(atoi) /* parse_i64 */
#undef atol
#define atol(...) BANNED(atol)
#undef atof
#define atof(...) BANNED(atof)
#undef strtol
#define strtol(...) BANNED(strtol)
#undef gmtime
#define gmtime(...) BANNED(gmtime) /* gmtime_r */
#undef localtime
#define localtime(...) BANNED(localtime)
#undef rand
#define rand(...) BANNED(rand) /* rng_next */
#undef gets
#define gets(...) BANNED(gets)

#endif
