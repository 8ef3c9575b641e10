// Steps of recurrent layers in fixed point: see loops/gated. Assembler, ARMv7-M, of its sums.
//
// 2.5 instructions a product, and some 35 for what is around a row's products with x, or with h.
//
// Forms: armv7m

#include "core.h"
#include "gated.h"

//+ lstm
//+ put
//+ relu
//+ renew
//+ reset
//+ reset_sums
//+ rnn
//+ row
//+ small_sums

// On the stack, in bytes. Of the row of x, and of that of h: where it is, bytes in fours of the
// mantissas up to a whole number of 120, items behind these << 30, where it ends, all items.
words 0, p, out, rows_left, low, high, shift, rest, end_of_row
words 32, x_row, x_fours, x_rest, x_end, x_items, h_row, h_fours, h_rest, h_end, h_items

function sums
    // r1 w; in a row's products r0 x, r2 end of fours, r8, r9 the sum
    push_high
    sub sp, #72
    str r3, [sp, #p]
    ldr r4, [r3, #p_out]; add r2, r2, r4, lsl #2; str r2, [sp, #out]
    ldr r4, [r3, #p_weights]; add r1, r1, r4, lsl #2
    ldr r4, [r3, #p_x_row]; ldr r5, [r3, #p_x_items]
    add r6, sp, #x_row; bl PREPARE
    ldr r4, [r3, #p_h_row]; ldr r5, [r3, #p_h_items]
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
    ldr r2, [sp, #out]; ldr r3, [sp, #p]; ldr r3, [r3, #p_is_argument]; cmp r3, #0; beq PAIR
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
