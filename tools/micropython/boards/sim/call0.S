// Start-up and exception vectors for a core without register windows (QEMU's lx106).

    .section .resetvec, "ax"
    .global _reset
_reset:
    j       1f                      // QEMU enters here (the core's reset vector), not at the ELF entry
    .align  4
    .literal_position
    .align  4
1:  movi    a0, _start
    jx      a0

    .section .vectors, "ax"
    .align  256
vecbase:
    .org    vecbase + 0x10          // debug
    j       trap
    .org    vecbase + 0x20          // NMI
    j       trap
    .org    vecbase + 0x30          // kernel exception
    j       trap
    .org    vecbase + 0x50          // user exception
    j       trap
    .org    vecbase + 0x70          // double exception
    j       trap
    .org    vecbase + 0x80
    .literal_position
    .align  4
trap:                               // report and stop: nothing has to be kept
    mov     a5, a0
    mov     a6, a1
    rsr.exccause a2
    rsr.epc1 a3
    rsr.excvaddr a4
    movi    a1, sim_fault_stack + 4096
    movi    a0, sim_fault
    callx0  a0

    .global _start
    .align  4
_start:
    movi    a1, _estack - 16
    movi    a2, vecbase
    wsr.vecbase a2
    movi    a2, 0
    wsr.ps  a2
    rsync
    movi    a0, sim_main
    callx0  a0
