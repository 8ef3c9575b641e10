// Products as mpconnxr's loops compute them, in C. Bytes: patches of some positions in a buffer,
// rows of weights interleaved by four channels and four elements, four channels of two positions at
// a time; sums requantized by integers. Floats: mantissas of 24 bits with a common exponent, summed
// in 64 bits. Weights come packed, as the converter makes them.
#include <math.h>
#include <stdint.h>
#include <string.h>

#define HALF (1 << 23)

// sum * multiplier, rounded to even: docs/quantization.md
static inline int32_t rescaled(int32_t sum, const int32_t *table) {
    int f = table[0] & 31;
    if (f > 25) {
        sum >>= f - 25;
        f = 0;
    }
    int32_t v = sum + (table[0] >> 5), limit = (1 << 25) >> f;
    int64_t g = (int64_t)(saturate(v, -limit, limit) * (1 << f)) * table[1];
    int32_t high = g >> 32, whole = high >> 15;
    return whole + ((high & 0x7FFF) + ((uint32_t)g != 0 || whole & 1) > 1 << 14);
}

// Requantize one sum to a byte; table: constant and multiplier of its channel
static inline uint8_t put(int32_t sum, const int32_t *table, int y_zero, int low, int high) {
    return saturate(rescaled(sum, table) + y_zero, low, high);
}

// n patches of K bytes (a multiple of 4) times M rows; sums: of the bytes of each patch
KERNEL same_dots(const uint8_t *x, const int32_t *sums, const uint8_t *w, const int32_t *table,
                 uint8_t *y, int n, int K, int M, int y_position, int y_channel, int w_zero,
                 int y_zero, int low, int high) {
    for (int i = 0; i < n; i += 2, x += 2 * K) {
        int both = i + 1 < n;
        int32_t s0 = -w_zero * sums[i], s1 = both ? -w_zero * sums[i + 1] : 0;
        const uint8_t *row = w;
        int m = 0;
        for (; m + 4 <= M; m += 4) {
            int32_t a[4] = {s0, s0, s0, s0}, b[4] = {s1, s1, s1, s1};
            for (int k = 0; k < K; k += 4, row += 16) {
                for (int j = 0; j < 4; j++) {
                    int32_t u = x[k + j], v = both ? x[K + k + j] : 0;
                    for (int c = 0; c < 4; c++) {
                        a[c] += u * row[4 * c + j];
                        b[c] += v * row[4 * c + j];
                    }
                }
            }
            for (int c = 0; c < 4; c++) {
                uint8_t *to = y + i * y_position + (m + c) * y_channel;
                to[0] = put(a[c], table + 2 * (m + c), y_zero, low, high);
                if (both) {
                    to[y_position] = put(b[c], table + 2 * (m + c), y_zero, low, high);
                }
            }
        }
        for (; m < M; m++, row += K) {
            for (int p = 0; p <= both; p++) {
                int32_t sum = p ? s1 : s0;
                for (int k = 0; k < K; k++) {
                    sum += x[p * K + k] * row[k];
                }
                y[(i + p) * y_position + m * y_channel] =
                    put(sum, table + 2 * m, y_zero, low, high);
            }
        }
    }
}

// flip (0 or 128) makes signed bytes unsigned; x_zero and w_zero are for unsigned bytes
KERNEL same_qconv(const uint8_t *x, const uint8_t *w, const int32_t *table, uint8_t *y,
                  uint8_t *patches, int32_t *sums, int piece, int N, int G, int C, int H, int W,
                  int M, int kh, int kw, int oh, int ow, int sh, int sw, int ph, int pw, int dh,
                  int dw, int flip, int x_zero, int w_zero, int y_zero, int low, int high) {
    int K = C * kh * kw, padded = (K + 3) & -4;
    for (int g = 0; g < N * G; g++) {
        for (int first = 0; first < oh * ow; first += piece) {
            int n = oh * ow - first < piece ? oh * ow - first : piece;
            uint8_t *to = patches;
            for (int i = 0; i < n; i++) {
                int top = (first + i) / ow * sh - ph, left = (first + i) % ow * sw - pw;
                int32_t sum = 0;
                for (int c = 0; c < C; c++) {
                    for (int r = 0; r < kh; r++) {
                        for (int s = 0; s < kw; s++) {
                            int ii = top + r * dh, jj = left + s * dw;
                            int inside = ii >= 0 && ii < H && jj >= 0 && jj < W;
                            *to = inside ? x[((g * C + c) * H + ii) * W + jj] ^ flip : x_zero;
                            sum += *to++;
                        }
                    }
                }
                memset(to, 0, padded - K);
                to += padded - K;
                sums[i] = sum;
            }
            same_dots(patches, sums, w + g % G * M * padded, table + g % G * M * 2,
                      y + g * M * oh * ow + first, n, padded, M, 1, oh * ow, w_zero, y_zero, low,
                      high);
        }
    }
}

// Depthwise convolution, one padded plane at a time
KERNEL same_qdepthwise(const uint8_t *x, const uint8_t *w, const int32_t *table, uint8_t *y,
                       uint8_t *plane, int N, int G, int H, int W, int M, int kh, int kw, int oh,
                       int ow, int sh, int sw, int ph, int pw, int dh, int dw, int flip,
                       int x_zero, int w_zero, int y_zero, int low, int high) {
    int rows = (oh - 1) * sh + (kh - 1) * dh + 1, width = (ow - 1) * sw + (kw - 1) * dw + 1;
    for (int g = 0; g < N * G; g++) {
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < width; j++) {
                int ii = i - ph, jj = j - pw;
                int inside = ii >= 0 && ii < H && jj >= 0 && jj < W;
                plane[i * width + j] = inside ? x[(g * H + ii) * W + jj] ^ flip : x_zero;
            }
        }
        for (int m = g % G * M; m < g % G * M + M; m++) {
            int32_t d[kh * kw];
            for (int k = 0; k < kh * kw; k++) {
                d[k] = w[m * kh * kw + k] - w_zero;
            }
            for (int i = 0; i < oh; i++) {
                for (int j = 0; j < ow; j++) {
                    const uint8_t *at = plane + i * sh * width + j * sw;
                    int32_t sum = 0;
                    for (int r = 0; r < kh; r++) {
                        for (int s = 0; s < kw; s++) {
                            sum += at[r * dh * width + s * dw] * d[r * kw + s];
                        }
                    }
                    *y++ = put(sum, table + 2 * m, y_zero, low, high);
                }
            }
        }
    }
}

// n rows of K bytes times M rows; rows, sums: scratch for rows padded to a multiple of 4 bytes
KERNEL same_qgemm(const uint8_t *x, const uint8_t *w, const int32_t *table, uint8_t *y,
                  uint8_t *rows, int32_t *sums, int n, int K, int M, int flip, int w_zero,
                  int y_zero, int low, int high) {
    int padded = (K + 3) & -4;
    for (int i = 0; i < n; i++) {
        sums[i] = 0;
        for (int k = 0; k < padded; k++) {
            rows[i * padded + k] = k < K ? x[i * K + k] ^ flip : 0;
            sums[i] += rows[i * padded + k];
        }
    }
    same_dots(rows, sums, w, table, y, n, padded, M, M, 1, w_zero, y_zero, low, high);
}

// Convert n floats to mantissas; return their common exponent
static inline int mantissas(const float *x, int32_t *out, int n) {
    uint32_t largest = 0;
    for (int i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, 4);
        largest = (bits & 0x7FFFFFFF) > largest ? bits & 0x7FFFFFFF : largest;
    }
    int block = largest >> 23 ? largest >> 23 : 1;
    for (int i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, 4);
        int e = bits >> 23 & 255, shift = block - (e ? e : 1);
        int32_t m = (bits & 0x7FFFFF) | (e ? HALF : 0);
        m = shift > 23 ? 0 : (m + (1 << shift)) >> (shift + 1);
        m = m < HALF ? m : HALF - 1;
        out[i] = bits >> 31 ? -m : m;
    }
    return block;
}

static inline float of_sum(int64_t sum, int exponent, float bias) {
    return ldexpf((float)sum, exponent - 298) + bias;
}

KERNEL same_conv_f32(const float *x, const int32_t *w, const int32_t *e, const float *b, float *y,
                     int32_t *image, int32_t *patch, int N, int G, int C, int H, int W, int M,
                     int kh, int kw, int oh, int ow, int sh, int sw, int ph, int pw, int dh,
                     int dw) {
    int K = C * kh * kw;
    for (int n = 0; n < N; n++, x += G * C * H * W) {
        int block = mantissas(x, image, G * C * H * W);
        for (int g = 0; g < G; g++) {
            for (int i = 0; i < oh * ow; i++) {
                int top = i / ow * sh - ph, left = i % ow * sw - pw;
                int32_t *to = patch;
                for (int c = 0; c < C; c++) {
                    for (int r = 0; r < kh; r++) {
                        for (int s = 0; s < kw; s++) {
                            int ii = top + r * dh, jj = left + s * dw;
                            int inside = ii >= 0 && ii < H && jj >= 0 && jj < W;
                            *to++ = inside ? image[((g * C + c) * H + ii) * W + jj] : 0;
                        }
                    }
                }
                for (int m = g * M; m < g * M + M; m++) {
                    int64_t sum = 0;
                    for (int k = 0; k < K; k++) {
                        sum += (int64_t)patch[k] * w[m * K + k];
                    }
                    y[(n * G * M + m) * oh * ow + i] = of_sum(sum, block + e[m], b ? b[m] : 0.0f);
                }
            }
        }
    }
}

// w (N, K)
KERNEL same_gemm_f32(const float *a, const int32_t *w, const int32_t *e, const float *c, float *y,
                     int32_t *row, int M, int K, int N) {
    for (int i = 0; i < M; i++) {
        int block = mantissas(a + i * K, row, K);
        for (int j = 0; j < N; j++) {
            int64_t sum = 0;
            for (int k = 0; k < K; k++) {
                sum += (int64_t)row[k] * w[j * K + k];
            }
            y[i * N + j] = of_sum(sum, block + e[j], c ? c[j] : 0.0f);
        }
    }
}
