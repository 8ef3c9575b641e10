# An Xtensa LX core with register windows: the ABI of the ESP32, .mpy architecture "xtensawin".
# binutils must know the core: XTENSA_GNU_CONFIG in the environment (tools/micropython/xtensa.py).
CORE = de212
AFLAGS += -mabi=windowed
CFLAGS += -mabi=windowed -DMICROPY_EMIT_XTENSAWIN=1 -DMICROPY_NLR_SETJMP=1 -DHAVE_DIV32
LDFLAGS += -mabi=windowed
SRC_BOARD_O += window.o
MPY_CROSS_FLAGS += -march=xtensawin
include $(BOARD_DIR)/../sim/sim.mk
