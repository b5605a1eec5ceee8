/* `aliquot controller`. Returns the exit status. */
#ifndef APP_CONTROLLER_H
#define APP_CONTROLLER_H

int controller_main(int argc, char **argv);

#endif
