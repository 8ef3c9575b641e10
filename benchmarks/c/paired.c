// Program around a model that benchmarks/c/paired.py drives: reads numbers of runs, one a line, and
// answers with the processor time of these runs in nanoseconds.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "model.h"

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(void) {
    char line[32];
    unsigned char sum = 0;
    while (fgets(line, sizeof line, stdin)) {
        int n = atoi(line);
        long long start = now();
        for (int i = 0; i < n; i++) {
            run();
        }
        printf("%lld\n", now() - start);
        fflush(stdout);
        for (unsigned i = 0; i < OUTPUT_NBYTES; i++) {
            sum += ((const unsigned char *)OUTPUT)[i];
        }
    }
    fprintf(stderr, "%d\n", sum); // keeps the compiler from removing the runs
    return 0;
}
