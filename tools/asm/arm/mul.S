// Products of float32 by their bits: see loops/mul. Assembler, ARMv6-M instructions only.
//
// Of 48 bits, in four products of 12. 75 instructions a product, more of denormals.
//
// Forms: thumb

#include "core.h"

// Offsets on the stack, in bytes.
words 0, x_bytes, w_bytes, p, end

function mul32
    // r0 and r1 exponents, r2 out, r3 sign, r6 and r7 magnitudes << 1, then mantissas, r4 the
    // lower half of their product, r6 the upper one; r8 x, r9 w, r10 not 0 if only numbers below 0
    // are multiplied, r11 end of the row, r12 1 << 23
    push_high
    sub sp, #16
    ldr r4, [r3, #p_x_start]; lsls r4, #2; adds r0, r4; mov r8, r0
    ldr r4, [r3, #p_w_start]; lsls r4, #2; adds r1, r4; mov r9, r1
    ldr r4, [r3, #p_out_start]; lsls r4, #2; adds r2, r4
    ldr r4, [r3, #p_is_prelu]; mov r10, r4; movs r4, #1; lsls r4, #23
    mov r12, r4
    ldr r4, [r3, #p_x_stride]; lsls r4, #2
    ldr r5, [r3, #p_w_stride]; lsls r5, #2
    mov r6, r3
    ldr r7, [r3, #p_columns]; lsls r7, #2; mov r0, r7; adds r0, r2
    mov r11, r0
    ldr r0, [r3, #p_rows]; muls r7, r0; adds r7, r2
    mov r0, sp; stmia r0!, {r4-r7}
    cmp r2, r7; bcc ITEM
    b DONE
ITEM:
    mov r0, r8; ldr r4, [r0]
    mov r0, r9; ldr r5, [r0]
    lsls r6, r4, #1
    lsls r7, r5, #1
    mov r0, r10; cmp r0, #0; beq PRODUCT
    cmp r6, #0; beq KEPT
    cmp r4, #0; blt PRODUCT
    movs r0, #255; lsls r0, #24; cmp r6, r0; bhi PRODUCT
KEPT:
    mov r6, r4
    b STORE
PRODUCT:
    mov r3, r4; eors r3, r5; lsrs r3, #31; lsls r3, #31
    lsrs r0, r6, #24
    lsrs r1, r7, #24
    cmp r0, #255; beq SPECIAL
    cmp r1, #255; beq SPECIAL
    cmp r6, #0; beq SIGN
    cmp r7, #0; beq ZERO
    lsls r6, #8; lsrs r6, #9
    lsls r7, #8; lsrs r7, #9
    cmp r0, #0; beq DENORMAL
    add r6, r12
NORMAL:
    cmp r1, #0; beq OTHER_DENORMAL
    add r7, r12
BOTH:
    adds r0, r1; subs r0, #127
    lsls r4, r6, #20; lsrs r4, #20
    lsrs r6, #12
    lsls r5, r7, #20; lsrs r5, #20
    lsrs r7, #12
    mov r1, r4; muls r1, r5; muls r4, r7
    muls r5, r6; adds r4, r5
    lsrs r5, r1, #12; adds r4, r5
    muls r6, r7
    lsrs r5, r4, #12; adds r6, r5
    lsls r4, #20; lsrs r4, #8
    lsls r1, #20; lsrs r1, #20; orrs r4, r1
    lsrs r5, r6, #23; beq SHORT
    adds r0, #1
    b SIZED
SPECIAL:
    movs r1, #255; lsls r1, #24; cmp r6, r1; bhi NAN
    cmp r7, r1; bhi NAN
    cmp r6, #0; beq NAN
    cmp r7, #0; bne INFINITE
NAN:
    movs r6, #255; lsls r6, #1; adds r6, #1; lsls r6, #22
    b STORE
DENORMAL:
    movs r0, #1
LEADING:
    lsls r6, #1
    subs r0, #1
    cmp r6, r12; bcc LEADING
    b NORMAL
OTHER_DENORMAL:
    movs r1, #1
OTHER_LEADING:
    lsls r7, #1
    subs r1, #1
    cmp r7, r12; bcc OTHER_LEADING
    b BOTH
SHORT:
    lsrs r5, r4, #23
    lsls r6, #1; orrs r6, r5
    lsls r4, #9; lsrs r4, #8
SIZED:
    cmp r0, #1; bge ROUND
    movs r5, #1; subs r5, r0; cmp r5, #25; ble FAR
    movs r5, #25
FAR:
    cmp r4, #0; beq EXACT
    movs r4, #1
EXACT:
    movs r1, #24; subs r1, r5; bmi NOTHING
    mov r7, r6; lsls r7, r1; lsls r7, #8; lsrs r7, #8
    orrs r4, r7
NOTHING:
    lsrs r6, r5
    movs r0, #1
ROUND:
    lsls r4, #9; bcc ROUNDED
    bne UP
    lsls r5, r6, #31; beq ROUNDED
UP:
    adds r6, #1
ROUNDED:
    cmp r0, #255; bge INFINITE
    subs r0, #1; lsls r0, #23; adds r6, r0
    b SIGN
INFINITE:
    movs r6, #255; lsls r6, #23
    b SIGN
ZERO:
    movs r6, #0
SIGN:
    orrs r6, r3
STORE:
    str r6, [r2]
    ldr r0, [sp, #x_bytes]; add r8, r0
    ldr r0, [sp, #w_bytes]; add r9, r0
    adds r2, #4; cmp r2, r11; beq ROW
    b ITEM
ROW:
    ldr r3, [sp, #p]; ldr r4, [r3, #p_columns]; lsls r4, #2; add r11, r4
    ldr r5, [r3, #p_x_stride]; muls r5, r4
    ldr r6, [r3, #p_x_row_stride]; lsls r6, #2; subs r6, r5; add r8, r6
    ldr r5, [r3, #p_w_stride]; muls r5, r4
    ldr r6, [r3, #p_w_row_stride]; lsls r6, #2; subs r6, r5; add r9, r6
    ldr r0, [sp, #end]; cmp r2, r0; beq DONE
    b ITEM
DONE:
    add sp, #16
    pop_high
    movs r0, #0
endfunction mul32
