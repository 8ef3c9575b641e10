// Steps of recurrent layers in fixed point: see loops/gated. Assembler, ARMv7-M, of its sums and of
// states of LSTM.
//
// 2.5 instructions a product, and about 35 around a row's products with x or with h.
// 285 an element of the state.
//
// Forms: armv7m

#include "core.h"

//+ put
//+ relu
//+ renew
//+ reset
//+ reset_sums
//+ rnn
//+ row
//+ small_sums

// Offsets on the stack, in bytes. Of the row of x, and of that of h: where it is, bytes in fours of
// the mantissas up to a multiple of 120, elements behind these << 30, where it ends, all elements.
words 0, p, out, rows_left, low, high, shift, rest, end_of_row
words 32, x_row, x_fours, x_rest, x_end, x_items, h_row, h_fours, h_rest, h_end, h_items

function sums
    // r1 w; in a row's products r0 x, r2 end of fours, r8, r9 the sum
    push_high
    sub sp, #72
    str r3, [sp, #p]
    ldr r4, [r3, #p_sums_out_start]; add r2, r2, r4, lsl #2; str r2, [sp, #out]
    ldr r4, [r3, #p_w_start]; add r1, r1, r4, lsl #2
    ldr r4, [r3, #p_x_row_start]; ldr r5, [r3, #p_x_elements]
    add r6, sp, #x_row; bl PREPARE
    ldr r4, [r3, #p_h_row_start]; ldr r5, [r3, #p_h_elements]
    add r6, sp, #h_row; bl PREPARE
    ldr r4, [r3, #p_rows]; str r4, [sp, #rows_left]
    cmp r4, #0; bne ROW
    b END
PREPARE:
    add r4, r0, r4, lsl #2; str r4, [r6]
    str r5, [r6, #16]
    add r7, r4, r5, lsl #2; adds r7, #4; str r7, [r6, #12]
    lsls r7, r5, #30; str r7, [r6, #8]
FEWER:
    subs r5, #120; bgt FEWER
    adds r5, #120; lsrs r5, #2; lsls r5, #4; str r5, [r6, #4]
    bx lr
PAIR:
    add r5, r5, #1073741824; stmia r2!, {r4-r5}
    b NEXT
LIMIT:
    mvn r4, #2147483648
    cmp r5, #0; bgt STORE
    negs r4, r4
    b STORE
ROW:
    ldmia r1!, {r4-r5}
    bic r5, r5, #3221225472; sub r5, r5, #536870912; str r5, [sp, #high]
    lsrs r7, r4, #24; bic r4, r4, #4278190080; str r4, [sp, #low]
    ldr r3, [sp, #x_items]; cmp r3, #0; beq OF_H
    add r6, sp, #x_row; ldmia r6!, {r0, r2-r3, r5}
    bl PRODUCTS
OF_H:
    ldr r3, [sp, #h_items]; cmp r3, #0; beq SUM
    ldr r7, [r1], #4; uxtb r7, r7
    add r6, sp, #h_row; ldmia r6!, {r0, r2-r3, r5}
    bl PRODUCTS
SUM:
    ldr r4, [sp, #low]; ldr r5, [sp, #high]
    add r5, r5, r4, lsr #24; bic r4, r4, #4278190080
    ldr r2, [sp, #out]; ldr r3, [sp, #p]; ldr r3, [r3, #p_has_arguments]; cmp r3, #0; beq PAIR
    movw r6, #511; adds r7, r5, r6; lsls r6, #1
    cmp r7, r6; bcs LIMIT
    adds r4, #2; lsls r5, #22; add r4, r5, r4, lsr #2
STORE:
    stmia r2!, {r4}
NEXT:
    str r2, [sp, #out]
    ldr r4, [sp, #rows_left]; subs r4, #1; str r4, [sp, #rows_left]; bne ROW
    b END
PRODUCTS:
    str r3, [sp, #rest]; str r5, [sp, #end_of_row]
    ldr r4, [r0], #4; adds r4, r7; rsb r4, r4, #270; str r4, [sp, #shift]
    adds r2, r0
PIECE:
    mov r8, #0; mov r9, #0
    cmp r0, r2; beq REST
FOUR:
    ldmia r0!, {r4-r7}
    ldmia r1!, {r3, r10-r12}
    smlal r8, r9, r4, r3; smlal r8, r9, r5, r10; smlal r8, r9, r6, r11; smlal r8, r9, r7, r12
    cmp r0, r2; bne FOUR
REST:
    ldr r3, [sp, #rest]; lsls r3, #1; bcc ODD
    ldmia r0!, {r4-r5}
    ldmia r1!, {r6-r7}
    smlal r8, r9, r4, r6; smlal r8, r9, r5, r7
ODD:
    bpl WHOLE
    ldr r4, [r0], #4; ldr r5, [r1], #4; smlal r8, r9, r4, r5
WHOLE:
    bic r4, r8, #4278190080; lsr r5, r8, #24; orr r5, r5, r9, lsl #8
    ldr r6, [sp, #shift]; subs r3, r6, #3
    cmp r3, #21; bcs UNUSUAL
    rsb r7, r6, #24; lsl r3, r5, r7; lsrs r4, r6; orrs r4, r3; bic r4, r4, #4278190080
    asrs r5, r6
ADD:
    ldr r6, [sp, #low]; adds r4, r6; str r4, [sp, #low]
    ldr r6, [sp, #high]; adds r5, r6; str r5, [sp, #high]
    ldr r6, [sp, #end_of_row]; cmp r0, r6; bne MORE
    bx lr
MORE:
    movs r4, #0; str r4, [sp, #rest]
    add r2, r0, #480
    b PIECE
UNUSUAL:
    cmp r6, #24; blt NEAR
    subs r6, #24
    cmp r6, #31
    it gt; movgt r6, #31
    asrs r5, r6; bic r4, r5, #4278190080; asrs r5, #24
    b ADD
NEAR:
    cmp r6, #0; ble AT_LEAST
    rsb r7, r6, #24; lsl r3, r5, r7; lsrs r4, r6; orrs r4, r3; bic r4, r4, #4278190080
    asrs r5, r6; movs r6, #0
AT_LEAST:
    mov r7, #67108864; negs r3, r7
LEFT:
    cmp r6, #0; bge LIMITS
    cmp r5, r7; bgt LIMITS
    cmp r5, r3; blt LIMITS
    adds r5, r5; add r5, r5, r4, lsr #23
    lsls r4, #9; lsrs r4, #8
    adds r6, #1
    b LEFT
LIMITS:
    cmp r5, r7; ble NOT_ABOVE
    mov r5, r7; movs r4, #0
NOT_ABOVE:
    cmp r5, r3; bge ADD
    mov r5, r3; movs r4, #0
    b ADD
END:
    add sp, #72
    pop_high
endfunction sums

// r4 = tanh of r4, which is not negative; both have 26 fractional bits. Changes what SIGMOID
// does.
.macro squash
    cmp r4, #0x40000000; ite hs; mvnhs r4, #0x80000000; lsllo r4, r4, #1
    bl SIGMOID
    sub r4, r4, #0x10000000; adds r4, #2; asrs r4, #2; bic r4, r4, #0xF8000000
.endm

// \out = \a * \b / 2**26, of numbers that are not negative. Changes r5.
.macro scaled_product out, a, b
    umull \out, r5, \a, \b; lsr \out, \out, #26; orr \out, \out, r5, lsl #6
.endm

function lstm
    // r0 arguments or gates, r1 table, r2 where these end, r3 h, r10 bytes of n elements, r11 c
    push {r8-r11}
    ldr r4, [r3, #p_arguments_start]; add r0, r2, r4, lsl #2
    ldr r10, [r3, #p_elements]; lsl r10, r10, #2
    ldr r4, [r3, #p_c_start]; add r11, r2, r4, lsl #2
    ldr r4, [r3, #p_h_start]; add r3, r2, r4, lsl #2
    add r2, r10, r10, lsl #1; add r2, r0
    cmp r10, #0; bne GATE
    b LSTM_END
GATE:
    ldr r4, [r0]; asr r9, r4, #31; eor r4, r4, r9; sub r4, r4, r9
    bl SIGMOID
    adds r4, #4; lsrs r4, #3; eor r4, r4, r9; sub r4, r4, r9
    and r9, r9, #0x4000000; add r4, r9; str r4, [r0], #4
    cmp r0, r2; bne GATE
    add r2, r10
STATE:
    ldr r4, [r0]; asr r9, r4, #31; eor r4, r4, r9; sub r4, r4, r9
    squash
    cmp r4, #0; it eq; moveq r9, #0
    sub r12, r0, r10; ldr r6, [r12]; sub r12, r12, r10, lsl #1; ldr r5, [r12]; ldr r7, [r11]
    scaled_product r4, r4, r5
    ubfx r5, r7, #23, #8; ubfx r8, r7, #0, #23; orr r8, r8, #0x800000
    cmp r5, #0; it eq; moveq r8, #0
    subs r5, #126; bmi TINY
    cmp r5, #6; bgt HUGE
    lsl r8, r8, r5
USUAL:
    adds r4, #2; lsrs r4, #2; mov r12, #125
ADDED:
    scaled_product r8, r8, r6
    eors r5, r7, r9; bmi DIFFER
    add r8, r4
    b TOTAL
DIFFER:
    subs r8, r8, r4
    itt mi; rsbmi r8, r8, #0; mvnmi r7, r7
TOTAL:
    cmp r8, #0; beq ZERO
    clz r5, r8; subs r5, #8; bmi WIDE
    lsl r8, r8, r5; sub r12, r5
    b JOINED
WIDE:
    negs r5, r5; subs r4, r5, #1; movs r6, #1; lsls r6, r4; add r8, r6; lsr r8, r8, r5; add r12, r5
JOINED:
    add r8, r8, r12, lsl #23
ZERO:
    and r7, r7, #0x80000000; add r8, r7; str r8, [r11], #4
    adds r0, #4; cmp r0, r2; bne STATE
    sub r0, r0, r10, lsl #1; sub r0, r10; add r2, r0, r10; sub r11, r10
RESULT:
    ldr r9, [r11], #4; ubfx r4, r9, #0, #23; orr r4, r4, #0x800000
    ubfx r5, r9, #23, #8; subs r5, #124; bmi SMALL
    cmp r5, #8; bge LIMITED
    lsls r4, r5
    b SQUASH
LIMITED:
    mvn r4, #0x80000000
    b SQUASH
SMALL:
    negs r5, r5; subs r6, r5, #1; movs r7, #1; lsls r7, r6; adds r4, r7; lsrs r4, r5
    cmp r5, #25; it hs; movhs r4, #0
SQUASH:
    squash
    ldr r5, [r0], #4; scaled_product r4, r4, r5
    cmp r4, #0; beq PUT
    mov r12, #123; clz r5, r4; subs r5, #8; bmi LONG
    lsls r4, r5; sub r12, r5
    b FLOAT
LONG:
    negs r5, r5; movs r7, #1; lsls r7, r5; subs r7, #1; adds r4, r7; lsrs r4, r5; add r12, r5
FLOAT:
    add r4, r4, r12, lsl #23
PUT:
    and r9, r9, #0x80000000; add r4, r9; str r4, [r3], #4
    cmp r0, r2; bne RESULT
    b LSTM_END
TINY:
    negs r5, r5; sub r12, r5, #1; cmp r5, #24; bhi NOTHING
    push {r7}; movs r7, #1; lsl r7, r7, r12; add r8, r7; lsr r8, r8, r5; pop {r7}
    b USUAL
NOTHING:
    mov r8, #0
    b USUAL
HUGE:
    lsl r8, r8, #6; subs r5, #6; add r12, r5, #125
    push {r6}; movs r6, #2; lsls r6, r5; adds r4, r6; adds r6, r5, #2; lsrs r4, r6; pop {r6}
    cmp r5, #26; it hs; movhs r4, #0
    b ADDED
// r4 = sigmoid of r4: see the plain form. Changes r5 to r8 and r12.
SIGMOID:
    lsrs r5, r4, #28; bne FAR
    lsls r4, #1; lsrs r5, r4, #23
FOUND:
    add r5, r5, r5, lsl #1; add r5, r1, r5, lsl #2; ldmia r5, {r5-r7}
    ubfx r12, r4, #8, #15; uxth r8, r7; sub r8, r8, #0x8000; mul r8, r12, r8
    lsrs r7, #16; lsls r7, #3; sub r7, r7, r8, asr #15
    ubfx r8, r4, #11, #12; ubfx r4, r4, #0, #11
    mul r12, r7, r4; asr r12, r12, #11; mla r12, r7, r8, r12; sub r6, r6, r12, asr #12
    asrs r7, r6, #12; ubfx r6, r6, #0, #12
    mla r5, r7, r8, r5; muls r7, r4; add r5, r5, r7, asr #11; mul r6, r8, r6; add r5, r5, r6, lsr #12
    bic r4, r5, #0xE0000000
    bx lr
FAR:
    cmp r5, #2; bhs FARTHER
    lsrs r5, r4, #23; adds r5, #32
    b FOUND
FARTHER:
    sub r4, r4, #0x20000000; lsrs r4, #2; lsrs r5, r4, #23; adds r5, #96
    cmp r5, #116; it hi; movhi r5, #116
    b FOUND
LSTM_END:
    pop {r8-r11}
endfunction lstm
