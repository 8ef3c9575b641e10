set(PICO_BOARD "pico")
set(PICO_PLATFORM "rp2040")
set(PICO_NO_PICOTOOL 1)
set(MICROPY_FROZEN_MANIFEST ${MICROPY_BOARD_DIR}/manifest.py)

# Nothing in the firmware is C++. Linked by the C compiler and without the SDK's `operator new`, it
# does not need a C++ library for ARM, which takes 1.5 GB.
add_compile_definitions(PICO_CXX_DISABLE_ALLOCATION_OVERRIDES=1)
set(CMAKE_CXX_LINK_EXECUTABLE
    "<CMAKE_C_COMPILER> <FLAGS> <CMAKE_CXX_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES> -lm")
