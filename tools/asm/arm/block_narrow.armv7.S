// Exact sums of mantissas with narrow weights: see loops/block_narrow. Inline assembler, ARMv7-M.
//
// 2.6 to 3 instructions a multiply-accumulate in the unrolled parts: weights are read by words,
// from any byte, and cut out of them. A sum starts so that what is added to it is there once it is
// shifted. There is at least one row and one channel.
//
// Forms: armv7m

#include "core.h"

// Offsets on the stack, in bytes.
words 0, row, rows_left, channels_left, p, end_of_row, w, unrolled_end, bits

// The sum += an element times four bits of the weights in r8.
.macro add_4_bits item, at
    ubfx r9, r8, #\at, #4; smlal r12, lr, \item, r9
.endm

// Four elements times four weights of 16 bits.
.macro add_four_16
    ldmia r0!, {r4-r7}
    ldr r8, [r1], #4; uxth r9, r8; smlal r12, lr, r4, r9
    uxth r9, r8, ror #16; smlal r12, lr, r5, r9
    ldr r8, [r1], #4; uxth r9, r8; smlal r12, lr, r6, r9
    uxth r9, r8, ror #16; smlal r12, lr, r7, r9
.endm

.macro add_four_8
    ldmia r0!, {r4-r7}; ldr r8, [r1], #4
    uxtb r9, r8; smlal r12, lr, r4, r9; uxtb r9, r8, ror #8; smlal r12, lr, r5, r9
    uxtb r9, r8, ror #16; smlal r12, lr, r6, r9; uxtb r9, r8, ror #24; smlal r12, lr, r7, r9
.endm

function dots
    // r0 x, r1 w, r2 end of what is unrolled of the row, r3 out, r8 weights, r9 one of them; r12,
    // lr the sum.
    mov r4, r8; mov r5, r9; push {r4-r7}
    sub sp, #32
    str r3, [sp, #p]
    ldr r4, [r3, #p_x_start]; lsls r4, #2; adds r0, r4; str r0, [sp, #row]
    ldr r5, [r3, #p_bits]; str r5, [sp, #bits]
    lsrs r5, #4
    ldr r4, [r3, #p_w_start]; lsls r4, r5; adds r1, r4; str r1, [sp, #w]
    ldr r4, [r3, #p_rows]; str r4, [sp, #rows_left]
    ldr r4, [r3, #p_out_start]; lsls r4, #2; adds r3, r2, r4
ROW:
    ldr r1, [sp, #p]; ldr r0, [sp, #row]
    ldr r4, [r1, #p_channels]; str r4, [sp, #channels_left]
    ldr r4, [r1, #p_columns]; lsls r5, r4, #2; adds r2, r5, r0; str r2, [sp, #end_of_row]
    lsrs r4, #3; lsls r4, #5; adds r4, r0; str r4, [sp, #unrolled_end]
    ldr r1, [sp, #w]
    movs r5, #0; movs r6, #1; lsls r6, #8
COUNT:  // the sum of x
    cmp r0, r2; beq STORE
    ldr r4, [r0]
    adds r0, #4
    asrs r7, r4, #31
    adds r5, r4
    adcs r6, r7
    b COUNT
STORE:  // r5, r6 as limbs
    lsls r4, r5, #8; lsrs r4, #8
    lsrs r5, #24
    lsls r7, r6, #16; lsrs r7, #8; adds r5, r7
    lsrs r6, #16; stmia r3!, {r4-r6}
    ldr r4, [sp, #channels_left]; subs r4, #1; blt NEXT
    str r4, [sp, #channels_left]
    ldr r0, [sp, #row]; ldr r2, [sp, #unrolled_end]
    movs r4, #0; mov r12, r4
    ldr r4, [sp, #bits]; cmp r4, #8; blt.w WIDTH4
    beq WIDTH8
    mov lr, #8388608
    cmp r0, r2; beq REST16
EIGHT16:
    add_four_16; add_four_16
    cmp r0, r2; bne EIGHT16
REST16:
    ldr r2, [sp, #end_of_row]
SINGLE16:
    cmp r0, r2; beq SUMMED16
    ldr r4, [r0]
    adds r0, #4
    ldrh r5, [r1]
    adds r1, #2
    smlal r12, lr, r4, r5
    b SINGLE16
SUMMED16:
    mov r5, r12; mov r6, lr; lsls r6, #8
    lsrs r4, r5, #24; orrs r6, r4
    lsls r5, #8
    b STORE
WIDTH8:
    mov lr, #32768
    cmp r0, r2; beq REST8
EIGHT8:
    add_four_8; add_four_8
    cmp r0, r2; bne EIGHT8
REST8:
    ldr r2, [sp, #end_of_row]
SINGLE8:
    cmp r0, r2; beq SUMMED8
    ldr r4, [r0]
    adds r0, #4
    ldrb r5, [r1]
    adds r1, #1
    smlal r12, lr, r4, r5
    b SINGLE8
SUMMED8:
    mov r5, r12; mov r6, lr; lsls r6, #16
    lsrs r4, r5, #16; orrs r6, r4
    lsls r5, #16
    b STORE
WIDTH4:
    mov lr, #2048
    cmp r0, r2; beq REST4
EIGHT4:
    ldmia r0!, {r4-r7}
    ldr r8, [r1], #4
    add_4_bits r4, 0; add_4_bits r5, 4; add_4_bits r6, 8; add_4_bits r7, 12
    ldmia r0!, {r4-r7}
    add_4_bits r4, 16; add_4_bits r5, 20; add_4_bits r6, 24; add_4_bits r7, 28
    cmp r0, r2; bne EIGHT4
REST4:
    ldr r2, [sp, #end_of_row]
SINGLE4:
    cmp r0, r2; beq SUMMED4
    ldr r4, [r0]
    adds r0, #4
    ldrb r5, [r1]
    adds r1, #1
    lsrs r6, r5, #4
    lsls r5, #28; lsrs r5, #28; smlal r12, lr, r4, r5
    cmp r0, r2; beq SUMMED4
    ldr r4, [r0]
    adds r0, #4
    smlal r12, lr, r4, r6
    b SINGLE4
SUMMED4:
    mov r5, r12; mov r6, lr; lsls r6, #20
    lsrs r4, r5, #12; orrs r6, r4
    lsls r5, #20
    b STORE
NEXT:
    ldr r0, [sp, #row]; ldr r1, [sp, #p]; ldr r4, [r1, #p_x_row_stride]; lsls r4, #2
    adds r0, r4; str r0, [sp, #row]
    ldr r4, [sp, #rows_left]; subs r4, #1; str r4, [sp, #rows_left]; bne ROW
    add sp, #32
    pop {r4-r7}; mov r8, r4; mov r9, r5; movs r0, #0
endfunction dots
