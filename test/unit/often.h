/* How often a test plays what it makes up. */
#ifndef TEST_UNIT_OFTEN_H
#define TEST_UNIT_OFTEN_H

/* A sanitizer sees in a few runs what it can see, and takes twice to five times as long for each.
 */
#ifdef __SANITIZE_ADDRESS__
#define OFTEN(times) (((times) + 7) / 8)
#else
#define OFTEN(times) (times)
#endif

#endif
