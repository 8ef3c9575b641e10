"""The format of the file of cases that a target reads. For CPython and MicroPython."""

import struct

HEADER = "<IIHBBI"  # bytes of the model file, case's number, options, form, runs, seed
HEADER_NBYTES = struct.calcsize(HEADER)

# Options. The file is in memory, else behind a file object; from that its weights are streamed
# or not; digests are checked; buffers lie at the left of their pages.
IN_MEMORY, STREAM, VERIFY, AT_LEFT = 1, 2, 4, 8

# Numbers of forms of loops: 0 is the best one, i the (i - 1)th that the target may have, modulo
# their number.
FORMS = 60

# Values that inputs get lie in one file, a pool of each kind.
POOL_NBYTES = 4096
POSITIONS = 5  # the one of small numbers

# A case's end, as the status of its process: it ran, load() or run() refused it, run() refused it
# for an exception of Python's that viper would not have raised, or a fault.
RAN, REFUSED_AT_LOAD, REFUSED_IN_RUN, BENEATH, EXCEPTION, CANARY, FILE_CHANGED = range(7)
LETTERS = "RLri"  # of those that are none
FAULT = "!"
