// Squared distances of a row from many, in fixed point: see loops/squares. Assembler.
//
// 15 instructions an element, and some 15 for each 8 of them.
//
// Forms: thumb

#include "core.h"

//+ squares

// Offsets in x, then on the stack, in bytes.
words 4, x_shift
words 0, row, left

// r2, r3, r7 += the products of the limbs of r4, of 14 bits and of those above.
.macro add_square
    asrs r5, r4, #14; lsls r4, #18; lsrs r4, #18
    movs r6, r4; muls r6, r4; adds r2, r6
    muls r4, r5; adds r3, r4
    muls r5, r5; adds r7, r5
.endm

function totals
    // r0 x, r1 w; r8 end of the row, r9 of a part of it, r10 shift, r11 what x has too much, r12
    // the upper limb, lr out
    push_high
    sub sp, #8
    ldr r4, [r0, #x_shift]; mov r10, r4
    movs r5, #1; lsls r5, #26; movs r6, r5; lsrs r6, r4; subs r5, r6; mov r11, r5
    ldr r4, [r3, #p_w_start]; lsls r4, #2; adds r1, r4
    ldr r4, [r3, #p_elements]; lsls r4, #2; adds r4, #8
    adds r2, r4; mov lr, r2
    adds r4, r0; mov r8, r4
    adds r0, #8; str r0, [sp, #row]
    ldr r4, [r3, #p_out_end]; ldr r5, [r3, #p_out_start]; subs r4, r5; ble END
    str r4, [sp, #left]
VECTOR:
    ldr r0, [sp, #row]
    movs r2, #0; movs r3, #0; movs r7, #0; mov r12, r7
PART:  // up to 8 elements
    movs r4, r0; adds r4, #32; cmp r4, r8; bls WHOLE
    mov r4, r8
WHOLE:
    mov r9, r4
    mov r4, r10; cmp r4, #0; bne SHIFTED
ITEM:
    ldmia r0!, {r4}; ldmia r1!, {r5}; subs r4, r5
    add_square
    cmp r0, r9; bne ITEM
    b CARRY
SHIFTED:
    ldmia r0!, {r4}; ldmia r1!, {r5}
    mov r6, r10; asrs r5, r6; subs r4, r5; mov r6, r11; subs r4, r6
    add_square
    cmp r0, r9; bne SHIFTED
CARRY:
    asrs r4, r2, #15; adds r3, r4; lsls r2, #17; lsrs r2, #17
    asrs r4, r3, #13; adds r7, r4; lsls r3, #19; lsrs r3, #19
    asrs r4, r7, #28; add r12, r4; lsls r7, #4; lsrs r7, #4
    cmp r0, r8; bne PART
    mov r4, lr
    lsls r3, #15; orrs r2, r3; str r2, [r4]
    str r7, [r4, #4]
    mov r5, r12; lsls r5, #4; lsrs r5, #4; str r5, [r4, #8]
    adds r4, #12; mov lr, r4
    ldr r4, [sp, #left]; subs r4, #1; str r4, [sp, #left]; bne VECTOR
END:
    add sp, #8
    pop_high
    movs r0, #0
endfunction totals
