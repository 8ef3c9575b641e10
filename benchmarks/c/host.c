// Program around a model on this computer: runs it argv[1] times and prints the output.
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

int main(int argc, char **argv) {
    for (int i = 0; i < atoi(argv[1]); i++) {
        run();
    }
    for (unsigned i = 0; i < OUTPUT_NBYTES; i++) {
        printf("%02x", ((const unsigned char *)OUTPUT)[i]);
    }
    printf("\n");
    return argc != 2;
}
