// Shared by all sources for Xtensa with register windows: how a function begins and ends.
//
// A function takes x, w, out and p in a2 to a5 and may change a2 to a15; a0, too, if it is in its
// frame (`entry`, `keep_return`). It returns a small integer in a2.
//
// Sources use only instructions that the ESP32, ESP32-S2 and ESP32-S3 all have: no loops, no MAC16,
// no floats. The core that tests run on also lacks mulsh and muluh.

#include "words.h"

// Begins a function. Its literals lie between the jump and the jump's target.
.macro function name:req, frame=32, arguments=4
    .balign 4
    .global \name
\name:
    .equ \name\().arguments, \arguments
\name\().body:
    j BEGIN_\name
    .balign 4
    .literal_position
BEGIN_\name:
    entry a1, \frame
.endm

.macro endfunction name:req
    movi a2, 0
    retw
    .balign 4
\name\().end:
.endm
