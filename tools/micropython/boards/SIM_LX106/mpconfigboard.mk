# The Xtensa core of the ESP8266, without register windows: .mpy architecture "xtensa".
CORE = lx106
CFLAGS += -DMICROPY_EMIT_XTENSA=1 -DMICROPY_EMIT_INLINE_XTENSA=1
LIBS = -lc # picolibc's setjmp
SRC_BOARD_O += call0.o
MPY_CROSS_FLAGS += -march=xtensa
include $(BOARD_DIR)/../sim/sim.mk
