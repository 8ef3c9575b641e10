// Integers to floats by scale and offset of each channel, in the FPU: see loops/to_float. Inline
// assembler with VFP.
//
// 16 instructions an element. Rounded as Cast, Mul and Add of float32 are.
//
// Forms: vfp

#include "core.h"

// Parameters.
words 0, p_lo, p_hi, p_channels, p_inner, p_channel, p_left

function to_float32
    ldr r4, [r3, #p_lo]; ldr r5, [r3, #p_hi]; cmp r4, r5; bge to_float32.end
    add r2, r2, r4, lsl #2; add r12, r0, r5, lsl #2; add r0, r0, r4, lsl #2
    ldr r5, [r3, #p_channels]; add lr, r1, r5, lsl #2       // the end of the scales
    ldr r4, [r3, #p_channel]; add r6, r1, r4, lsl #2
    add r7, r6, r5, lsl #2; ldr r5, [r3, #p_left]
ITEM:
    vldmia r0!, {s0}; vldr s1, [r6]; vldr s2, [r7]
    vcvt.f32.s32 s0, s0; vmul.f32 s0, s0, s1; vadd.f32 s0, s0, s2
    vstmia r2!, {s0}
    subs r5, #1; bne NEXT
    ldr r5, [r3, #p_inner]; adds r6, #4; adds r7, #4
    cmp r6, lr; bne NEXT
    mov r6, r1; mov r7, lr
NEXT:
    cmp r0, r12; blo ITEM
endfunction to_float32
