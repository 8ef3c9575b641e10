// Start-up, window and exception vectors, setjmp/longjmp for a windowed-ABI Xtensa core with 32 address
// registers (QEMU's de212) on the sim machine. See "Windowed Register Option" in the Xtensa ISA manual.
// Calls are call8 throughout, as GCC and MicroPython's xtensawin emitter make them.

    .section .resetvec, "ax"
    .global _reset
_reset:
    j       1f                      // QEMU enters here (the core's reset vector), not at the ELF entry
    .align  4
    .literal_position
1:  movi    a0, _start
    jx      a0

    .section .vectors, "ax"
    .align  1024
sim_vecbase:
    .org    sim_vecbase + 0x00      // WindowOverflow4: frame a0-a3
    s32e    a0, a5, -16
    s32e    a1, a5, -12
    s32e    a2, a5, -8
    s32e    a3, a5, -4
    rfwo
    .org    sim_vecbase + 0x40      // WindowUnderflow4
sim_uf4:
    l32e    a0, a5, -16
    l32e    a1, a5, -12
    l32e    a2, a5, -8
    l32e    a3, a5, -4
    rfwu
    .org    sim_vecbase + 0x80      // WindowOverflow8: frame a0-a7; a4-a7 go under its caller's sp
    s32e    a0, a9, -16
    l32e    a0, a1, -12
    s32e    a1, a9, -12
    s32e    a2, a9, -8
    s32e    a3, a9, -4
    s32e    a4, a0, -32
    s32e    a5, a0, -28
    s32e    a6, a0, -24
    s32e    a7, a0, -20
    rfwo
    .org    sim_vecbase + 0xc0      // WindowUnderflow8
sim_uf8:
    l32e    a1, a9, -12
    l32e    a0, a9, -16
    l32e    a7, a1, -12
    l32e    a2, a9, -8
    l32e    a3, a9, -4
    l32e    a4, a7, -32
    l32e    a5, a7, -28
    l32e    a6, a7, -24
    l32e    a7, a7, -20
    rfwu
    .org    sim_vecbase + 0x100     // WindowOverflow12: frame a0-a11
    s32e    a0, a13, -16
    l32e    a0, a1, -12
    s32e    a1, a13, -12
    s32e    a2, a13, -8
    s32e    a3, a13, -4
    s32e    a4, a0, -48
    s32e    a5, a0, -44
    s32e    a6, a0, -40
    s32e    a7, a0, -36
    s32e    a8, a0, -32
    s32e    a9, a0, -28
    s32e    a10, a0, -24
    s32e    a11, a0, -20
    rfwo
    .org    sim_vecbase + 0x140     // WindowUnderflow12
sim_uf12:
    l32e    a1, a13, -12
    l32e    a0, a13, -16
    l32e    a11, a1, -12
    l32e    a2, a13, -8
    l32e    a3, a13, -4
    l32e    a4, a11, -48
    l32e    a5, a11, -44
    l32e    a6, a11, -40
    l32e    a7, a11, -36
    l32e    a8, a11, -32
    l32e    a9, a11, -28
    l32e    a10, a11, -24
    l32e    a11, a11, -20
    rfwu
    .org    sim_vecbase + 0x180     // high-priority interrupts, debug, NMI: unused
    j       sim_trap
    .org    sim_vecbase + 0x1c0
    j       sim_trap
    .org    sim_vecbase + 0x200
    j       sim_trap
    .org    sim_vecbase + 0x240
    j       sim_trap
    .org    sim_vecbase + 0x280
    j       sim_trap
    .org    sim_vecbase + 0x2c0
    j       sim_trap
    .org    sim_vecbase + 0x300     // kernel exception
    j       sim_exc
    .org    sim_vecbase + 0x340     // user exception
    j       sim_exc
    .org    sim_vecbase + 0x3c0     // double exception
    j       sim_trap
    .org    sim_vecbase + 0x400

    .literal_position
    .align  4
sim_exc:
    wsr.excsave1 a0
    rsr.exccause a0
    bnei    a0, 5, sim_trap_a0      // 5: Alloca, movsp while the caller's frame is in memory
    // Load the caller's frame as if returning to it; movsp is then executed again.
    rsr.windowbase a0
    rotw    -1                      // the caller's first pane is now a0-a3 minus one; old a0 is a4
    rsr.ps  a2
    extui   a3, a2, 8, 4            // PS.OWB
    xor     a3, a3, a4
    slli    a3, a3, 8
    xor     a2, a2, a3              // PS.OWB = window of the excepting frame
    wsr.ps  a2
    rsr.excsave1 a4
    rsync
    bbci    a4, 31, 4f
    rotw    -1
    bbci    a8, 30, 8f
    rotw    -1
    j       sim_uf12
4:  j       sim_uf4
8:  j       sim_uf8

sim_trap_a0:
    rsr.excsave1 a0
sim_trap:                           // report and stop: frames are not needed any more
    wsr.excsave2 a0
    wsr.excsave3 a1
    movi    a2, 0
    wsr.windowbase a2
    rsync
    movi    a2, 1
    wsr.windowstart a2
    rsync
    movi    a2, 0x40000             // PS.WOE
    wsr.ps  a2
    rsync
    movi    a1, sim_fault_stack + 4096 - 64
    call0   sim_first_frame
    rsr.exccause a10
    rsr.epc1 a11
    rsr.excvaddr a12
    rsr.excsave2 a13
    rsr.excsave3 a14
    movi    a8, sim_fault
    callx8  a8
1:  j       1b

    .align  4
sim_first_frame:                    // the overflow handler wants a caller's sp under the first frame's sp
    addi    a3, a1, -16
    addi    a2, a1, 32              // it then stores a4-a7 at that sp - 32
    s32i    a2, a3, 4
    mov     a2, a0
    movi    a0, 0
    jx      a2

    .global _start
    .align  4
_start:
    movi    a2, 0
    wsr.windowbase a2
    rsync
    movi    a2, 1
    wsr.windowstart a2
    movi    a2, sim_vecbase
    wsr.vecbase a2
    movi    a2, 0x40000             // PS.WOE, interrupt level 0, EXCM clear
    wsr.ps  a2
    rsync
    movi    a1, _estack - 64
    call0   sim_first_frame
    movi    a8, sim_main
    callx8  a8
1:  j       1b

// Force every frame but the caller's into memory: 3 + 3 + 1 panes of the 8.
    .text
    .align  4
sim_spill:                          // entered by call12 from a frame that then owns panes b..b+2
    entry   a1, 48
    call12  1f
    retw
    .align  4
1:  entry   a1, 48
    mov     a7, a7
    retw

// jmp_buf: a0-a7 of the calling frame, a0-a3 of the frame before it (under sp, where alloca may write), return address
    .global setjmp
    .type   setjmp, @function
    .align  4
setjmp:
    entry   a1, 32
    call12  sim_spill
    addi    a6, a1, -16             // calling frame's a0-a3
    l32i    a3, a6, 0
    l32i    a4, a6, 4               // its sp
    l32i    a5, a6, 8
    s32i    a3, a2, 0
    s32i    a4, a2, 4
    s32i    a5, a2, 8
    l32i    a3, a6, 12
    s32i    a3, a2, 12
    addi    a6, a4, -16             // the frame before: a0-a3
    l32i    a3, a6, 0
    l32i    a4, a6, 4               // its sp
    l32i    a5, a6, 8
    s32i    a3, a2, 32
    s32i    a4, a2, 36
    s32i    a5, a2, 40
    l32i    a3, a6, 12
    s32i    a3, a2, 44
    addi    a6, a4, -32             // calling frame's a4-a7
    l32i    a3, a6, 0
    l32i    a4, a6, 4
    l32i    a5, a6, 8
    s32i    a3, a2, 16
    s32i    a4, a2, 20
    s32i    a5, a2, 24
    l32i    a3, a6, 12
    s32i    a3, a2, 28
    s32i    a0, a2, 48
    movi    a2, 0
    retw

    .global longjmp
    .type   longjmp, @function
    .align  4
longjmp:
    entry   a1, 32
    movi    a4, 1                   // drop every other frame from the registers
    rsr.windowbase a5
    ssl     a5
    sll     a4, a4
    wsr.windowstart a4
    rsync
    l32i    a0, a2, 48
    l32i    a7, a2, 4               // target frame's sp
    addi    a6, a7, -16
    l32i    a4, a2, 32
    l32i    a7, a2, 36              // sp of the frame before it
    s32i    a4, a6, 0
    s32i    a7, a6, 4
    l32i    a4, a2, 40
    l32i    a5, a2, 44
    s32i    a4, a6, 8
    s32i    a5, a6, 12
    addi    a6, a7, -32
    l32i    a4, a2, 16
    l32i    a5, a2, 20
    s32i    a4, a6, 0
    s32i    a5, a6, 4
    l32i    a4, a2, 24
    l32i    a5, a2, 28
    s32i    a4, a6, 8
    s32i    a5, a6, 12
    addi    a4, a2, 16              // underflow reads the target's a0-a3 at our sp - 16: the jmp_buf itself
    mov     a2, a3
    movi    a5, 1
    moveqz  a2, a5, a3
    mov     a1, a4
    retw
