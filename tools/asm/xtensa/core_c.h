// Shared by the C sources for Xtensa: the instructions of the ESP32, ESP32-S2 and ESP32-S3 that
// the compiler, which is one for another core, does not know.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;

#define NOINLINE static __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))
#define RARELY(condition) __builtin_expect(condition, 0)

INLINE int min(int a, int b)
{
    int c;
    __asm__("min %0, %1, %2" : "=r"(c) : "r"(a), "r"(b));
    return c;
}

INLINE int max(int a, int b)
{
    int c;
    __asm__("max %0, %1, %2" : "=r"(c) : "r"(a), "r"(b));
    return c;
}

// Makes the compiler keep a value in a register.
#define KEPT(value) __asm__("" : "+r"(value))
