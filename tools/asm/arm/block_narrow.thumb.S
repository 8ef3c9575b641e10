// Exact sums of mantissas with narrow weights: see loops/viper/block_narrow for how. Inline
// assembler, ARMv6-M opcodes.
//
// 7 instructions a multiply-accumulate in the unrolled parts, of 4 bits 5. Rows and channels are
// above 0.
//
// Forms: thumb

#include "core.h"

// Offsets on the stack, in bytes.
words 0, row, rows_left, channels_left, p, w, out, bits

// A, B of the part += the element in r2 times the weight in r5.
.macro add_product
    asrs r3, r2, #12; muls r2, r5; muls r3, r5; adds r6, r2; adds r7, r3
.endm

.macro add_products_16
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    ldr r2, [r0, #4*\i]; ldrh r5, [r1, #2*\i]; add_product
    .endr
.endm

.macro add_products_8
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    ldr r2, [r0, #4*\i]; ldrb r5, [r1, #\i]; add_product
    .endr
.endm

// Two weights a byte, whose products need no parts.
.macro add_products_4
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    ldrb r5, [r1, #\i]; ldr r2, [r0, #8*\i]; ldr r3, [r0, #8*\i+4]
    lsrs r4, r5, #4; lsls r5, #28; lsrs r5, #28
    muls r2, r5; muls r3, r4; adds r6, r2; adds r6, r3
    .endr
.endm

function dots
    // r0 x, r1 w, r3 out; r6, r7 the sums A, B of a part; r8, r9 the sum; r10 end of the row.
    mov r4, r8; mov r5, r9; mov r6, r10; push {r4-r6}
    sub sp, #28
    str r3, [sp, #p]
    ldr r4, [r3, #p_x_start]; lsls r4, #2; adds r0, r4; str r0, [sp, #row]
    ldr r5, [r3, #p_bits]; str r5, [sp, #bits]
    lsrs r5, #4
    ldr r4, [r3, #p_w_start]; lsls r4, r5; adds r1, r4; str r1, [sp, #w]
    ldr r4, [r3, #p_rows]; str r4, [sp, #rows_left]
    ldr r4, [r3, #p_out_start]; lsls r4, #2; adds r2, r4; str r2, [sp, #out]
ROW:
    ldr r1, [sp, #p]; ldr r0, [sp, #row]
    ldr r4, [r1, #p_channels]; str r4, [sp, #channels_left]
    ldr r4, [r1, #p_columns]; lsls r4, #2; adds r4, r0; mov r10, r4
    ldr r1, [sp, #w]
    movs r5, #0; movs r6, #1; lsls r6, #8
COUNT:  // the sum of x
    cmp r0, r10; beq STORE
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
    lsrs r6, #16
    ldr r3, [sp, #out]; stmia r3!, {r4-r6}
    str r3, [sp, #out]
    ldr r4, [sp, #channels_left]; subs r4, #1; bge CHANNEL
    ldr r0, [sp, #row]; ldr r1, [sp, #p]; ldr r4, [r1, #p_x_row_stride]; lsls r4, #2
    adds r0, r4; str r0, [sp, #row]
    ldr r4, [sp, #rows_left]; subs r4, #1; str r4, [sp, #rows_left]; bne ROW
    add sp, #28
    pop {r4-r6}; mov r8, r4; mov r9, r5; mov r10, r6
    movs r0, #0
    b END
CHANNEL:
    str r4, [sp, #channels_left]
    ldr r0, [sp, #row]
    movs r4, #0; mov r8, r4; movs r4, #1
    ldr r5, [sp, #bits]; cmp r5, #8; bgt BITS16
    beq JUMP
    b BITS4
JUMP:
    b BITS8
BITS16:
    lsls r4, #23; mov r9, r4
PART16:
    movs r6, #0; movs r7, #0; mov r4, r10; subs r4, r0
    cmp r4, #48; bge WHOLE16
    cmp r4, #0; bne SINGLE16
    mov r5, r8; mov r6, r9; lsls r6, #8
    lsrs r4, r5, #24; orrs r6, r4
    lsls r5, #8
    b STORE
SINGLE16:
    ldr r2, [r0]
    ldrh r5, [r1]
    add_product
    adds r0, #4; adds r1, #2
    cmp r0, r10; bne SINGLE16
    b DONE16
WHOLE16:
    add_products_16
    adds r0, #48; adds r1, #24
DONE16:
    bl DONE
    b PART16
BITS8:
    lsls r4, #15; mov r9, r4
PART8:
    movs r6, #0; movs r7, #0; mov r4, r10; subs r4, r0
    cmp r4, #64; bge WHOLE8
    cmp r4, #0; bne SINGLE8
    mov r5, r8; mov r6, r9; lsls r6, #16
    lsrs r4, r5, #16; orrs r6, r4
    lsls r5, #16
    b STORE
SINGLE8:
    ldr r2, [r0]
    ldrb r5, [r1]
    add_product
    adds r0, #4; adds r1, #1
    cmp r0, r10; bne SINGLE8
    b DONE8
WHOLE8:
    add_products_8
    adds r0, #64; adds r1, #16
DONE8:
    bl DONE
    b PART8
BITS4:
    lsls r4, #11; mov r9, r4
PART4:
    movs r6, #0; mov r4, r10; subs r4, r0; cmp r4, #64
    bge WHOLE4
    cmp r4, #0; bne SINGLE4
    mov r5, r8; mov r6, r9; lsls r6, #20
    lsrs r4, r5, #12; orrs r6, r4
    lsls r5, #20
    b STORE
SINGLE4:
    ldrb r5, [r1]
    ldr r2, [r0]
    adds r1, #1; adds r0, #4
    lsrs r4, r5, #4
    lsls r5, #28; lsrs r5, #28; muls r2, r5; adds r6, r2
    cmp r0, r10; beq DONE4
    ldr r2, [r0]
    adds r0, #4
    muls r2, r4; adds r6, r2
    cmp r0, r10; bne SINGLE4
    b DONE4
WHOLE4:
    add_products_4
    adds r0, #64; adds r1, #8
DONE4:
    asrs r7, r6, #12
    bl DONE
    b PART4
DONE:
    movs r5, #0
    lsls r2, r7, #12; subs r3, r6, r2  // L
    asrs r4, r7, #20
    adds r2, r3
    adcs r4, r5
    mov r5, r8; adds r5, r2; mov r8, r5; mov r5, r9
    adcs r5, r4; mov r9, r5
    bx lr
END:
endfunction dots
