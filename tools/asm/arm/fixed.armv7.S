// Fixed point before a dynamic quantization: see loops/fixed. Assembler, ARMv7-M.
//
// gates 56 instructions an element, norms 24, octets 14.
//
// Forms: armv7m

#include "core.h"

//+ channels
//+ ends

// Offsets on the stack, in bytes.
words 0, left, right, coarser, limit, finer, end, block

// \low = \high:\low / 2**24, of a product of 64 bits.
.macro cut_off low, high
    lsrs \low, \low, #24; orr \low, \low, \high, lsl #8
.endm

function gates
    // r0 x, r1 words, r2 out, r3 2**30, r8 those of the channel, r9 table, r10 most, r11 least
    push {r8-r11}
    sub sp, #28
    str r3, [sp, #block]
    ldr r4, [r3, #p_bits]; movs r6, #0
    rsbs r5, r4, #29; itt mi; rsbmi r6, r5, #0; movmi r5, #0
    strd r5, r6, [sp, #left]
    ldr r4, [r3, #p_unit_exponent]; subw r4, r4, #1007; movs r6, #0
    cmp r4, #0; itt lt; rsblt r6, r4, #0; movlt r4, #0
    cmp r4, #30; it gt; movgt r4, #30
    cmp r6, #30; it gt; movgt r6, #30
    str r4, [sp, #finer]
    ldr r7, [r3, #p_eighths]; lsls r7, #14; lsrs r7, r4
    strd r6, r7, [sp, #coarser]
    ldr r4, [r3, #p_channels]; add r9, r1, r4, lsl #3
    ldr r4, [r3, #p_channel]; add r8, r1, r4, lsl #3
    ldr r4, [r3, #p_start]; ldr r5, [r3, #p_end]
    add r7, r0, r5, lsl #2; str r7, [sp, #end]
    add r0, r0, r4, lsl #2; add r2, r2, r4, lsl #2
    mov r3, #1 << 30; mov r10, r3; mov r11, r3
    cmp r4, r5; bge DONE
ITEM:
    ldr r4, [r0], #4; ldrd r5, r6, [sp, #left]; lsls r4, r5; asrs r4, r6
    ldrd r5, r6, [r8], #8; sub r5, r5, #1 << 24
    smull r12, lr, r4, r5; lsr r12, r12, #24; orr r4, r12, lr, lsl #8
    subs r6, r6, r3; adds r4, r6
    cmp r8, r9; it eq; moveq r8, r1
    eor r5, r4, r4, asr #31; sub r5, r5, r4, asr #31
    ldrd r12, lr, [sp, #coarser]
    ubfx r7, r5, #0, #31; lsr r7, r7, r12; cmp r7, lr; bge BEYOND
    ldr r12, [sp, #finer]; lsl r7, r7, r12
    lsr r12, r7, #14; add r12, r9, r12, lsl #4; ubfx r7, r7, #0, #14
    ldrd r6, lr, [r12], #8; subs r6, r6, r3; muls r6, r7
    add r6, lr, r6, asr #14; subs r6, r6, r3; muls r6, r7
    ldrd r12, lr, [r12]; add r6, r12, r6, asr #14; muls r6, r7
    add r6, lr, r6, asr #14
    cmp r4, #0; it lt; rsblt r6, r6, #1 << 21
    umull r7, r12, r5, r6; lsr r7, r7, #21; orr r5, r7, r12, lsl #11
    it lt; rsblt r5, r5, #0
    adds r4, r5, r3
STORE:
    cmp r4, r10; it gt; movgt r10, r4
    cmp r4, r11; it lt; movlt r11, r4
    str r4, [r2], #4
    ldr r7, [sp, #end]; cmp r0, r7; blo ITEM
DONE:
    ldr r3, [sp, #block]; str r10, [r3, #p_largest]; str r11, [r3, #p_smallest]
    add sp, #28
    pop {r8-r11}
    movs r0, #0
    b gates.end
BEYOND:
    bic r4, r4, r4, asr #31; adds r4, r4, r3
    b STORE
endfunction gates

function norms
    // r0 x, r1 words, r2 out, r3 2**30, r8 left, r9 right, r10 R, r11 end, lr most, r12 room
    push {r8-r11}
    str r3, [sp, #-4]!
    ldr r4, [r3, #p_x_start]; ldr r5, [r3, #p_columns]
    add r0, r0, r4, lsl #2; add r2, r2, r4, lsl #2; add r11, r2, r5, lsl #2
    ldr r4, [r3, #p_product_exponent]; ldr r5, [r3, #p_point]; add r4, r4, r5; subw r4, r4, #2204
    movs r6, #0
    cmp r4, #0; itt lt; rsblt r6, r4, #0; movlt r4, #0
    cmp r4, #30; it gt; movgt r4, #30
    cmp r6, #30; it gt; movgt r6, #30
    mov r8, r4; mov r9, r6
    ldr r10, [r3, #p_inverse]; ldr lr, [r3, #p_norms_largest]; ldr r12, [r3, #p_norms_smallest]
    ldr r4, [r3, #p_exponent]; mov r3, #1 << 30
    cmp r4, #255; it ne; cmpne r10, #0; beq NOTHING
    cmp r2, r11; bhs NORMED
ROW:
    ldr r4, [r0], #4; subs r4, r4, r3
    smull r5, r6, r4, r10; lsrs r5, r5, #30; orr r4, r5, r6, lsl #2
    lsl r4, r4, r8; asr r4, r4, r9
    ldrd r5, r6, [r1], #8; sub r5, r5, #1 << 24
    smull r4, r5, r4, r5; cut_off r4, r5
    adds r4, r6
    cmp r4, lr; it gt; movgt lr, r4
    cmp r4, r12; it lt; movlt r12, r4
    str r4, [r2], #4; cmp r2, r11; blo ROW
NORMED:
    ldr r3, [sp], #4; str lr, [r3, #p_norms_largest]; str r12, [r3, #p_norms_smallest]
    pop {r8-r11}
    movs r0, #0
    b norms.end
NOTHING:
    cmp r2, r11; bhs NORMED
    str r3, [r2], #4
    b NOTHING
endfunction norms

function octets
    // r0 x, r1 end, r2 out, r3 2**30, r8 left, r9 right, r10 half, r11 zero, r12 mantissa
    push {r8-r11}
    ldr r4, [r1, #8]; ldr r11, [r1, #4]
    ubfx r5, r4, #23, #8; mov r12, #0
    cmp r5, #0; beq DENORMAL
    ubfx r4, r4, #0, #23; orr r12, r4, #1 << 23
DENORMAL:
    ldr r4, [r3, #p_unit_exponent]; adds r4, r4, r5
    subw r4, r4, #1150; movs r6, #0  // to the left
    cmp r4, #0; itt lt; rsblt r6, r4, #0; movlt r4, #0
    cmp r4, #30; it gt; movgt r4, #30
    cmp r6, #30; it gt; movgt r6, #30
    mov r8, r4; mov r9, r6
    movs r4, #1; lsls r4, r6; lsr r10, r4, #1
    ldr r4, [r3, #p_elements]; add r1, r0, r4, lsl #2; mov r3, #1 << 30
    cmp r4, #0; ble PUT
OCTET:
    ldr r4, [r0], #4; subs r4, r4, r3
    smull r4, r5, r4, r12; cut_off r4, r5
    lsl r4, r4, r8; add r4, r4, r10; asr r4, r4, r9; add r4, r4, r11
    usat r4, #8, r4; strb r4, [r2], #1
    cmp r0, r1; blo OCTET
PUT:
    pop {r8-r11}
    movs r0, #0
endfunction octets
