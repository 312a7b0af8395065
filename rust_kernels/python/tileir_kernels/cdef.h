/* A tensor that the caller owns. Strides are in elements. dtype: 0 f32, 1 f16, 2 bf16. */
typedef struct {
    uint64_t ptr;
    int32_t ndim;
    int64_t shape[8];
    int64_t strides[8];
    int32_t dtype;
} TensorDesc;

/* Hints of one launch to the assembler instead of the kernel's own; 0: the kernel's own. */
typedef struct {
    int32_t occupancy;
    int32_t num_ctas;
    int32_t num_worker_warps;
} LaunchHints;

/* How a product of matrices is cut into tiles: their extents, the rows of tiles in a group of blocks, the latency hint of
   the loads (1 to 10); 0: the operator's own. */
typedef struct {
    int32_t m;
    int32_t n;
    int32_t k;
    int32_t group;
    int32_t latency;
} Tiling;

/* What an operator returns. tileir_error() says more, and names the argument. */
typedef enum {
    TILEIR_OK = 0,
    TILEIR_NULL = 1,
    TILEIR_DTYPE = 2,
    TILEIR_RANK = 3,
    TILEIR_SHAPE = 4,
    TILEIR_STRIDE = 5,
    TILEIR_EMPTY = 6,
    TILEIR_TOO_LARGE = 7,
    TILEIR_VALUE = 8,
    TILEIR_DEVICE = 9,
    TILEIR_COMPILE = 10,
    TILEIR_LAUNCH = 11,
    TILEIR_PANIC = 12
} TileirStatus;

/* The text of the last call of this thread that failed. Valid until the next call that fails. */
const char *tileir_error(void);

/* sizeof(TensorDesc) as the library sees it. */
size_t tileir_tensor_desc_size(void);

/* From now on calls of this thread write what they would launch (bytecode, and the launch as JSON) into `folder`, for a
   device of `arch` (as "sm_90") with so many multiprocessors; nothing is launched. `assemble`: also compile for `arch`
   into the cache. `folder` NULL: calls launch again. */
int32_t tileir_record(const char *folder, const char *arch, int32_t multiprocessors, int32_t assemble);

/* Keeps compiled kernels in `folder`, and looks there before compiling. */
int32_t tileir_cache(const char *folder);

/* Operators. They enqueue on `stream` (a CUstream or cudaStream_t) of device `device`, and wait for nothing. The memory
   belongs to the caller, and must live until the stream has passed the call. An output shares no memory with another
   output, nor with an input, except one that starts at its address with its strides, where the operator works element by
   element or row by row. `hints` may be NULL. */

/* variant: 0 masked loads, 1 views (tensor memory accelerator), 2 in chunks, 3 one block a row */
int32_t tileir_softmax(const TensorDesc *out, const TensorDesc *input, int32_t variant, const LaunchHints *hints,
                       int32_t device, void *stream);
int32_t tileir_silu_and_mul(const TensorDesc *out, const TensorDesc *input, const LaunchHints *hints, int32_t device,
                            void *stream);
int32_t tileir_swiglu(const TensorDesc *out, const TensorDesc *gate, const TensorDesc *up, const LaunchHints *hints,
                      int32_t device, void *stream);
int32_t tileir_relu(const TensorDesc *out, const TensorDesc *input, const LaunchHints *hints, int32_t device,
                    void *stream);
/* approximate: 0 tanh by way of a sigmoid, 1 tanh */
int32_t tileir_gelu(const TensorDesc *out, const TensorDesc *input, int32_t approximate, const LaunchHints *hints,
                    int32_t device, void *stream);
/* dim: the dimension that is split into two halves */
int32_t tileir_geglu(const TensorDesc *out, const TensorDesc *input, int32_t dim, int32_t approximate,
                     const LaunchHints *hints, int32_t device, void *stream);
/* probability: with which an element becomes zero */
int32_t tileir_dropout(const TensorDesc *out, const TensorDesc *input, double probability, int32_t seed,
                       const LaunchHints *hints, int32_t device, void *stream);
/* out = input / rms * (shift + weight), rstd = 1 / rms, of each row. rstd is f32.
   variant: 0 one block a row, 1 views, a block for several tiles of rows, 2 one block a row, which is one tile */
int32_t tileir_rms_norm(const TensorDesc *out, const TensorDesc *rstd, const TensorDesc *input,
                        const TensorDesc *weight, double eps, double shift, int32_t variant, const LaunchHints *hints,
                        int32_t device, void *stream);
/* out = (input - mean) / deviation * (shift + weight) + bias over the second of three dimensions; rstd = 1 / deviation. mean
   and rstd are f32, of the first and the third dimension. */
int32_t tileir_layer_norm(const TensorDesc *out, const TensorDesc *mean, const TensorDesc *rstd,
                          const TensorDesc *input, const TensorDesc *weight, const TensorDesc *bias, double eps,
                          double shift, const LaunchHints *hints, int32_t device, void *stream);
/* The same of each row of a matrix; mean and rstd have one number a row. */
int32_t tileir_layer_norm_legacy(const TensorDesc *out, const TensorDesc *mean, const TensorDesc *rstd,
                                 const TensorDesc *input, const TensorDesc *weight, const TensorDesc *bias, double eps,
                                 double shift, const LaunchHints *hints, int32_t device, void *stream);
/* out = (input - mean) * rstd * weight + bias of each row, rounded to bf16; input and out are bf16 or f32.
   compute: 1 mean and rstd are computed and written, 0 they are taken as they are. tile_rows: the rows of a tile, a power
   of two; 0: the operator's own */
int32_t tileir_persistent_layer_norm(const TensorDesc *out, const TensorDesc *mean, const TensorDesc *rstd,
                                     const TensorDesc *input, const TensorDesc *weight, const TensorDesc *bias,
                                     double eps, int32_t compute, int32_t tile_rows, const LaunchHints *hints,
                                     int32_t device, void *stream);
/* Rotates query and key, of (batch, heads, positions, size), in place. cos, sin: of (1 or batch, positions, at least half
   of what is rotated). rotated: how many elements of the last dimension, 0 all; half of it is a power of two. */
int32_t tileir_rope(const TensorDesc *query, const TensorDesc *key, const TensorDesc *cos, const TensorDesc *sin,
                    int32_t rotated, const LaunchHints *hints, int32_t device, void *stream);
/* Partial results [batch, head, part, column], weighted by the base-2 logarithms lse [batch, head, part], which are f32:
   out [batch, head, column]. */
int32_t tileir_splitk_reduce(const TensorDesc *out, const TensorDesc *parts, const TensorDesc *lse,
                             const LaunchHints *hints, int32_t device, void *stream);
/* variant: 0 plain, 1 persistent. That takes A as [K, M] with transpose_a, B as [N, K] with transpose_b. `tiling` may be
   NULL. f32 is multiplied as tf32. */
int32_t tileir_matmul(const TensorDesc *out, const TensorDesc *a, const TensorDesc *b, int32_t transpose_a,
                      int32_t transpose_b, const Tiling *tiling, int32_t variant, const LaunchHints *hints,
                      int32_t device, void *stream);
/* As tileir_matmul, of each of a batch of matrices; f32 as it is. */
int32_t tileir_bmm(const TensorDesc *out, const TensorDesc *a, const TensorDesc *b, int32_t transpose_a,
                   int32_t transpose_b, const Tiling *tiling, int32_t variant, const LaunchHints *hints, int32_t device,
                   void *stream);
int32_t tileir_transpose(const TensorDesc *out, const TensorDesc *input, const LaunchHints *hints, int32_t device,
                         void *stream);
