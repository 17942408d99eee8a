/* What this processor can do, for compilers whose own library cannot tell: zig's lacks what __builtin_cpu_supports asks for.
   hatch_build.py puts this before every source then. */

#ifndef COFIRE_PROCESSOR_H
#define COFIRE_PROCESSOR_H

#if defined(__x86_64__)

#include <cpuid.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Registers that the system must keep for a program before it may use wide numbers (XCR0). */
#define NO_WIDE 0x00
#define WIDE 0x06
#define WIDEST 0xe6

enum { IN_EBX, IN_ECX };

/* A skill by the name that compilers give it, and where the processor tells of it: a page, a register and a bit of cpuid (Intel's
   manual, volume 2A). A name that is not here counts as a skill that is missing; a test compares them with the sources. */
static const struct {
    const char *name;
    uint32_t page;
    int at;
    int bit;
    uint32_t keeps;
} SKILLS[] = {
    {"popcnt", 1, IN_ECX, 23, NO_WIDE},    {"fma", 1, IN_ECX, 12, WIDE},       {"f16c", 1, IN_ECX, 29, WIDE},
    {"avx", 1, IN_ECX, 28, WIDE},          {"avx2", 7, IN_EBX, 5, WIDE},       {"avx512f", 7, IN_EBX, 16, WIDEST},
    {"avx512bw", 7, IN_EBX, 30, WIDEST},   {"avx512vl", 7, IN_EBX, 31, WIDEST}, {"avx512vpopcntdq", 7, IN_ECX, 14, WIDEST},
};

/* What the system keeps; nothing where it does not even tell (OSXSAVE). */
static inline uint32_t kept_by_system(void) {
    uint32_t eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx >> 27 & 1)) return 0;
    __asm__("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
    return eax;
}

static inline int processor_supports(const char *name) {
    for (size_t skill = 0; skill < sizeof SKILLS / sizeof *SKILLS; skill++) {
        if (strcmp(SKILLS[skill].name, name) != 0) continue;
        uint32_t eax, ebx, ecx, edx, keeps = SKILLS[skill].keeps;
        if (!__get_cpuid_count(SKILLS[skill].page, 0, &eax, &ebx, &ecx, &edx)) return 0;
        return ((SKILLS[skill].at == IN_EBX ? ebx : ecx) >> SKILLS[skill].bit & 1) && (kept_by_system() & keeps) == keeps;
    }
    return 0;
}

#define __builtin_cpu_supports(name) processor_supports(name)

#endif
#endif
