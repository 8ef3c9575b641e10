// Updates the arguments of a program's next call: see loops/program. Assembler, ARMv6-M
// instructions only.
//
// 20 instructions a number of one byte.
//
// Forms: thumb

#include "core.h"

//> from ..viper.program import run  # its calls are Python's

// Words, followed by the numbers that change.
words 0, p_at, p_calls, p_views, p_counters
.equ p_first, 32

// Offsets in a memoryview object.
.equ v_place, 4

function advance, arguments=3
    // r0 at, r1 words, r3 number at hand, r12 what is returned, lr first byte of a number
    push {r0}
    ldr r2, [r1, #p_at]; adds r0, r2
    ldr r2, [r1, #p_calls]; cmp r2, #0; beq END
    subs r2, #1; str r2, [r1, #p_calls]
CODE:
    ldrb r2, [r0]; adds r0, #1
    mov r12, r2
    cmp r2, #253; bhs OTHER
    mov r3, r1; adds r3, #p_first
RUN:
    ldrb r4, [r0]; adds r0, #1
    cmp r4, #0; beq CHANGED
    lsrs r5, r4, #4; lsls r5, #2; adds r3, r5
    lsls r4, #28; beq RUN
    lsrs r4, #28
NUMBER:
    ldrb r5, [r0]; adds r0, #1
    mov lr, r5
    lsls r6, r5, #25; lsrs r6, #26
    movs r2, #6
    b BYTE
MORE:
    ldrb r5, [r0]; adds r0, #1
    lsls r7, r5, #25; lsrs r7, #25; lsls r7, r2; orrs r6, r7
    adds r2, #7
BYTE:
    lsls r7, r5, #24; bmi MORE
    lsrs r5, r6, #1; bcc SIGNED
    mvns r5, r5
SIGNED:
    mov r6, lr; lsls r6, #31
    ldr r2, [r1, #p_views]; lsls r2, #2; adds r2, r1; adds r2, #p_first
    cmp r3, r2; bhs WORD
    ldr r2, [r3]
    ldr r7, [r2, #v_place]
    cmp r6, #0; beq MOVED
    lsls r7, #24; lsrs r7, #24
MOVED:
    adds r7, r5; str r7, [r2, #v_place]
    b NEXT
WORD:
    cmp r6, #0; bne STORE
    ldr r7, [r3]; adds r5, r7
STORE:
    str r5, [r3]
NEXT:
    adds r3, #4
    subs r4, #1; bne NUMBER
    b RUN
OTHER:
    beq READ
    cmp r2, #254; bhi STOP
    ldrb r4, [r0]; lsls r4, #2; adds r4, r1
    ldr r5, [r4, #p_counters]; cmp r5, #0; bne COUNT
    ldrb r5, [r0, #3]; ldrb r6, [r0, #4]; lsls r6, #8; adds r5, r6; adds r5, #1
COUNT:
    subs r5, #1; str r5, [r4, #p_counters]; beq ON
    ldrb r5, [r0, #1]; ldrb r6, [r0, #2]; lsls r6, #8; adds r5, r6
    subs r0, r5; subs r0, #1
    b CODE
ON:
    adds r0, #5
    b CODE
READ:
    ldr r2, [r1, #p_calls]; adds r2, #1; str r2, [r1, #p_calls]
    ldrb r4, [r0]; ldrb r5, [r0, #1]; lsls r5, #8; adds r4, r5
    adds r4, #255; adds r4, #1; mov r12, r4
    adds r0, #2
    b DONE
STOP:
    subs r0, #1  // so that any later call ends there, too
END:
    movs r2, #255; mov r12, r2
    b DONE
CHANGED:
    mov r2, r12; cmp r2, #252; beq CODE
DONE:
    pop {r2}
    subs r0, r2; str r0, [r1, #p_at]
    mov r0, r12
endfunction advance
