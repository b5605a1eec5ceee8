/* `aliquot replay FILE...`: decides again what a journal recorded. Returns the exit status: 0 where
 * every plan came out as it was, 1 where one did not, 2 where the files cannot be replayed. */
#ifndef APP_REPLAY_H
#define APP_REPLAY_H

int replay_main(int argc, char **argv);

#endif
