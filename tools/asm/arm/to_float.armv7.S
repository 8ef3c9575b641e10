// Integers to floats by scale and offset of each channel: see loops/to_float. Assembler, ARMv7-M.
//
// About 60 instructions an element.
//
// Forms: armv7m

#include "core.h"

#define man r4
#define exp r5
#define word r6
#define tmp r7
#define sign r12
#define count lr
#define more r8
#define its_exp r9
#define at r10
#define left r11

function to_float32
    push {r8-r11}
    ldr r4, [r3, #p_start]; ldr r5, [r3, #p_end]; subs r5, r5, r4; ble NO_ITEMS
    add r0, r0, r4, lsl #2; add r2, r2, r4, lsl #2
    ldr r6, [r3, #p_channel]; lsl at, r6, #2; ldr left, [r3, #p_left]
    add r4, r0, r5, lsl #2; push {r4}           // the end of x
ITEM:
    ldr man, [r0], #4; ldr word, [r1, at]
    eor sign, man, word
    cmp man, #0; it mi; rsbmi man, man, #0
    ubfx exp, word, #23, #8; cmp exp, #0; beq NO_PRODUCT
    clz count, man; cmp count, #8; blt LARGE
SIZED:
    lsl man, man, count; rsb count, count, #28; add exp, count        // man: its highest bit is 31
    lsl word, word, #9; mov tmp, #1 << 27; orr word, tmp, word, lsr #5
    umull tmp, man, man, word
    lsrs tmp, man, #27; beq ADDED
    and tmp, man, #1; orr man, tmp, man, lsr #1; add exp, #1
ADDED:
    ldr tmp, [r3, #p_channels]; add tmp, at, tmp, lsl #2; ldr word, [r1, tmp]
    ubfx its_exp, word, #23, #8; cmp its_exp, #0; beq NO_OFFSET
    lsl more, word, #9; mov tmp, #1 << 26; orr more, tmp, more, lsr #6
    sub its_exp, its_exp, #3; cmp man, #0; beq ALONE
    subs tmp, exp, its_exp; blt SWAP
SWAPPED:
    cmp tmp, #28; it gt; movgt tmp, #28
    lsr count, more, tmp; lsl tmp, count, tmp; cmp tmp, more; it ne; orrne count, count, #1
    teq sign, word; bmi APART
    add man, man, count
ONE:
    clz tmp, man; cmp tmp, #5; bne NORMALIZE          // 5: bit 26 is the highest one
NORMALIZED:
    ubfx tmp, man, #3, #1; adds man, #3; add man, tmp; lsrs man, man, #3
    adds exp, #2; cmp exp, #254; bhs EXTREME        // exp is one less
    add man, man, exp, lsl #23
DONE:
    lsr tmp, sign, #31; orr man, man, tmp, lsl #31
    str man, [r2], #4
    subs left, left, #1; bne SAME_CHANNEL
    ldr left, [r3, #p_inner]; add at, at, #4
    ldr tmp, [r3, #p_channels]; cmp at, tmp, lsl #2; it eq; moveq at, #0
SAME_CHANNEL:
    ldr tmp, [sp]; cmp r0, tmp; blo ITEM
    pop {r4}
NO_ITEMS:
    pop {r8-r11}
    movs r0, #0
    b to_float32.end

NO_PRODUCT:
    movs man, #0; b ADDED

LARGE:                                          // of more than 24 bits: rounded one by one
    cmp count, #0; bne HALVE
    mvn man, #1 << 31
HALVE:
    and tmp, man, #1; add man, tmp, man, lsr #1; adds exp, #1
    cmp man, #1 << 24; bhs HALVE
    clz count, man; b SIZED

NO_OFFSET:
    cmp man, #0; bne ONE
    mov sign, word; b DONE

ALONE:                                          // no product
    mov man, more; mov exp, its_exp; mov sign, word; b ONE

SWAP:
    mov count, man; mov man, more; mov more, count
    mov exp, its_exp; negs tmp, tmp
    mov count, sign; mov sign, word; mov word, count
    b SWAPPED

APART:
    subs man, man, count; bpl ONE
    negs man, man; mov sign, word
    b ONE

NORMALIZE:
    cmp tmp, #4; beq TOO_LONG
    subs tmp, #5; lsls man, man, tmp; subs exp, exp, tmp
    cmp man, #0; bne NORMALIZED
    b DONE
TOO_LONG:
    and tmp, man, #1; orr man, tmp, man, lsr #1; adds exp, #1
    b NORMALIZED

EXTREME:                                        // unsigned: below 0, too
    cmp exp, #0; ite lt; movlt man, #0; movge man, #0x7F800000
    b DONE
endfunction to_float32
