// Operators of ONNX in straightforward C, as a code generator or a reference kernel writes them:
// nested loops over the output, a test for the padding, one multiply-accumulate at a time. They
// are inlined into functions that give them constants, so that the compiler sees every extent.
#include <math.h>
#include <stdint.h>

#define KERNEL static inline __attribute__((always_inline)) void

static inline int32_t saturate(int32_t q, int32_t low, int32_t high) {
    return q < low ? low : q > high ? high : q;
}

static inline int32_t requantize(int32_t acc, float scale) {
    return (int32_t)rintf((float)acc * scale);
}

// x (N, G * C, H, W), w (G * M, C, kh, kw), y (N, G * M, oh, ow)
KERNEL conv_f32(const float *x, const float *w, const float *b, float *y, int N, int G, int C,
                int H, int W, int M, int kh, int kw, int oh, int ow, int sh, int sw, int ph,
                int pw, int dh, int dw) {
    for (int n = 0; n < N; n++) {
        for (int m = 0; m < G * M; m++) {
            for (int i = 0; i < oh; i++) {
                for (int j = 0; j < ow; j++) {
                    float sum = b ? b[m] : 0.0f;
                    for (int c = 0; c < C; c++) {
                        for (int r = 0; r < kh; r++) {
                            int ii = i * sh - ph + r * dh;
                            if (ii < 0 || ii >= H) {
                                continue;
                            }
                            for (int s = 0; s < kw; s++) {
                                int jj = j * sw - pw + s * dw;
                                if (jj < 0 || jj >= W) {
                                    continue;
                                }
                                sum += x[((n * G * C + m / M * C + c) * H + ii) * W + jj]
                                    * w[((m * C + c) * kh + r) * kw + s];
                            }
                        }
                    }
                    y[((n * G * M + m) * oh + i) * ow + j] = sum;
                }
            }
        }
    }
}

// y (M, N) = a (M, K) * b + c, b (K, N) or, transposed, (N, K); c (N) or NULL
KERNEL gemm_f32(const float *a, const float *b, const float *c, float *y, int M, int K, int N,
                int transposed) {
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) {
            float sum = 0.0f;
            for (int k = 0; k < K; k++) {
                sum += a[i * K + k] * (transposed ? b[j * K + k] : b[k * N + j]);
            }
            y[i * N + j] = c ? sum + c[j] : sum;
        }
    }
}

KERNEL relu_f32(const float *x, float *y, int n) {
    for (int i = 0; i < n; i++) {
        y[i] = x[i] > 0.0f ? x[i] : 0.0f;
    }
}

// y[i] = a[i] + b[i / inner % outer]: each element of b is added to `inner` neighbours
KERNEL add_f32(const float *a, const float *b, float *y, int n, int outer, int inner) {
    for (int i = 0; i < n; i++) {
        y[i] = a[i] + b[i / inner % outer];
    }
}

KERNEL softmax_f32(const float *x, float *y, int rows, int n) {
    for (int i = 0; i < rows; i++, x += n, y += n) {
        float largest = x[0], sum = 0.0f;
        for (int j = 1; j < n; j++) {
            largest = x[j] > largest ? x[j] : largest;
        }
        for (int j = 0; j < n; j++) {
            y[j] = expf(x[j] - largest);
            sum += y[j];
        }
        for (int j = 0; j < n; j++) {
            y[j] /= sum;
        }
    }
}

// Maximum of each window; planes = N * C
#define MAX_POOL(name, T)                                                                       \
    KERNEL name(const T *x, T *y, int planes, int H, int W, int kh, int kw, int oh, int ow,     \
                int sh, int sw, int ph, int pw) {                                               \
        for (int n = 0; n < planes; n++) {                                                      \
            for (int i = 0; i < oh; i++) {                                                      \
                for (int j = 0; j < ow; j++) {                                                  \
                    int found = 0;                                                              \
                    T largest = 0;                                                              \
                    for (int r = 0; r < kh; r++) {                                              \
                        int ii = i * sh - ph + r;                                               \
                        for (int s = 0; s < kw; s++) {                                          \
                            int jj = j * sw - pw + s;                                           \
                            if (ii < 0 || ii >= H || jj < 0 || jj >= W) {                       \
                                continue;                                                       \
                            }                                                                   \
                            T value = x[(n * H + ii) * W + jj];                                 \
                            if (!found || value > largest) {                                    \
                                largest = value;                                                \
                                found = 1;                                                      \
                            }                                                                   \
                        }                                                                       \
                    }                                                                           \
                    y[(n * oh + i) * ow + j] = largest;                                         \
                }                                                                               \
            }                                                                                   \
        }                                                                                       \
    }
MAX_POOL(max_pool_f32, float)
MAX_POOL(max_pool_s8, int8_t)
MAX_POOL(max_pool_u8, uint8_t)

// Quantized operators for x and y of type T (limits low, high) and w of type U.
#define INTEGERS(suffix, T, U, low, high)                                                       \
    KERNEL qconv_##suffix(const T *x, const U *w, const int32_t *b, const float *scale, T *y,   \
                          int N, int G, int C, int H, int W, int M, int kh, int kw, int oh,     \
                          int ow, int sh, int sw, int ph, int pw, int dh, int dw, int x_zero,   \
                          int w_zero, int y_zero) {                                             \
        for (int n = 0; n < N; n++) {                                                           \
            for (int m = 0; m < G * M; m++) {                                                   \
                for (int i = 0; i < oh; i++) {                                                  \
                    for (int j = 0; j < ow; j++) {                                              \
                        int32_t sum = b ? b[m] : 0;                                             \
                        for (int c = 0; c < C; c++) {                                           \
                            for (int r = 0; r < kh; r++) {                                      \
                                int ii = i * sh - ph + r * dh;                                  \
                                if (ii < 0 || ii >= H) {                                        \
                                    continue;                                                   \
                                }                                                               \
                                for (int s = 0; s < kw; s++) {                                  \
                                    int jj = j * sw - pw + s * dw;                              \
                                    if (jj < 0 || jj >= W) {                                    \
                                        continue;                                               \
                                    }                                                           \
                                    sum += (x[((n * G * C + m / M * C + c) * H + ii) * W + jj]  \
                                            - x_zero)                                           \
                                        * (w[((m * C + c) * kh + r) * kw + s] - w_zero);        \
                                }                                                               \
                            }                                                                   \
                        }                                                                       \
                        int32_t q = requantize(sum, scale[m]) + y_zero;                         \
                        y[((n * G * M + m) * oh + i) * ow + j] = saturate(q, low, high);        \
                    }                                                                           \
                }                                                                               \
            }                                                                                   \
        }                                                                                       \
    }                                                                                           \
    KERNEL qgemm_##suffix(const T *a, const U *w, const int32_t *b, const float *scale, T *y,   \
                          int M, int K, int N, int transposed, int a_zero, int w_zero,          \
                          int y_zero) {                                                         \
        for (int i = 0; i < M; i++) {                                                           \
            for (int j = 0; j < N; j++) {                                                       \
                int32_t sum = b ? b[j] : 0;                                                     \
                for (int k = 0; k < K; k++) {                                                   \
                    sum += (a[i * K + k] - a_zero)                                              \
                        * ((transposed ? w[j * K + k] : w[k * N + j]) - w_zero);                \
                }                                                                               \
                int32_t q = requantize(sum, scale[j]) + y_zero;                                 \
                y[i * N + j] = saturate(q, low, high);                                          \
            }                                                                                   \
        }                                                                                       \
    }
INTEGERS(s8s8, int8_t, int8_t, -128, 127)
INTEGERS(u8u8, uint8_t, uint8_t, 0, 255)
INTEGERS(u8s8, uint8_t, int8_t, 0, 255)

#define BYTES(suffix, T, low, high)                                                             \
    KERNEL quantize_##suffix(const float *x, T *y, int n, float scale, int zero) {              \
        for (int i = 0; i < n; i++) {                                                           \
            y[i] = saturate((int32_t)rintf(x[i] / scale) + zero, low, high);                    \
        }                                                                                       \
    }                                                                                           \
    KERNEL dequantize_##suffix(const T *x, float *y, int n, float scale, int zero) {            \
        for (int i = 0; i < n; i++) {                                                           \
            y[i] = (x[i] - zero) * scale;                                                       \
        }                                                                                       \
    }                                                                                           \
    /* a * a_scale + b * b_scale, in 20 bits behind the point */                                \
    KERNEL qadd_##suffix(const T *a, const T *b, T *y, int n, int32_t a_factor, int a_zero,     \
                         int32_t b_factor, int b_zero, int y_zero) {                            \
        for (int i = 0; i < n; i++) {                                                           \
            int32_t sum = (a[i] - a_zero) * a_factor + (b[i] - b_zero) * b_factor;              \
            y[i] = saturate(((sum + (1 << 19)) >> 20) + y_zero, low, high);                     \
        }                                                                                       \
    }                                                                                           \
    /* The mean of each plane, of `inner` values */                                             \
    KERNEL qmean_##suffix(const T *x, T *y, int planes, int inner, int x_zero, int y_zero,      \
                          float scale) {                                                        \
        for (int n = 0; n < planes; n++) {                                                      \
            int32_t sum = 0;                                                                    \
            for (int i = 0; i < inner; i++) {                                                   \
                sum += x[n * inner + i] - x_zero;                                               \
            }                                                                                   \
            y[n] = saturate(requantize(sum, scale) + y_zero, low, high);                        \
        }                                                                                       \
    }                                                                                           \
    KERNEL qsoftmax_##suffix(const T *x, T *y, int rows, int n, float x_scale, float y_scale,   \
                             int y_zero) {                                                      \
        for (int i = 0; i < rows; i++, x += n, y += n) {                                        \
            float values[n], sum = 0.0f;                                                        \
            T largest = x[0];                                                                   \
            for (int j = 1; j < n; j++) {                                                       \
                largest = x[j] > largest ? x[j] : largest;                                      \
            }                                                                                   \
            for (int j = 0; j < n; j++) {                                                       \
                values[j] = expf((x[j] - largest) * x_scale);                                   \
                sum += values[j];                                                               \
            }                                                                                   \
            for (int j = 0; j < n; j++) {                                                       \
                int32_t q = (int32_t)rintf(values[j] / sum / y_scale) + y_zero;                 \
                y[j] = saturate(q, low, high);                                                  \
            }                                                                                   \
        }                                                                                       \
    }
BYTES(s8, int8_t, -128, 127)
BYTES(u8, uint8_t, 0, 255)

// y (a, b, c, d): y[i, j, k, l] = x[i * sa + j * sb + k * sc + l * sd]
#define TRANSPOSE(name, T)                                                                      \
    KERNEL name(const T *x, T *y, int a, int b, int c, int d, int sa, int sb, int sc, int sd) { \
        for (int i = 0; i < a; i++) {                                                           \
            for (int j = 0; j < b; j++) {                                                       \
                for (int k = 0; k < c; k++) {                                                   \
                    for (int l = 0; l < d; l++) {                                               \
                        *y++ = x[i * sa + j * sb + k * sc + l * sd];                            \
                    }                                                                           \
                }                                                                               \
            }                                                                                   \
        }                                                                                       \
    }
TRANSPOSE(transpose_f32, float)
TRANSPOSE(transpose_s8, int8_t)
TRANSPOSE(transpose_u8, uint8_t)

// Copy x (N, C, H, W) into y at (n0, c0, h0, w0), with the value around it
#define PAD(name, T)                                                                            \
    KERNEL name(const T *x, T *y, int N, int C, int H, int W, int n0, int c0, int h0, int w0,   \
                int on, int oc, int oh, int ow, T value) {                                      \
        for (int n = -n0; n < on - n0; n++) {                                                   \
            for (int c = -c0; c < oc - c0; c++) {                                               \
                for (int i = -h0; i < oh - h0; i++) {                                           \
                    for (int j = -w0; j < ow - w0; j++) {                                       \
                        int within = n >= 0 && n < N && c >= 0 && c < C && i >= 0 && i < H      \
                            && j >= 0 && j < W;                                                 \
                        *y++ = within ? x[((n * C + c) * H + i) * W + j] : value;               \
                    }                                                                           \
                }                                                                               \
            }                                                                                   \
        }                                                                                       \
    }
PAD(pad_f32, float)
PAD(pad_s8, int8_t)
PAD(pad_u8, uint8_t)
