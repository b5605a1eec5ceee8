/* The command line of `aliquot status`. */
#ifndef APP_STATUS_COMMAND_H
#define APP_STATUS_COMMAND_H

int status_main(int argc, char **argv);

#endif
