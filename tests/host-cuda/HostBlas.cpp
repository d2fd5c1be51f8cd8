// cuBLASLt's product on the host, by its documentation: matrices are stored column by column.
#include "tests/host-cuda/HostDnn.h"

#include <cublasLt.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

using namespace syncline::hostcuda;

namespace {

struct Layout {
  cudaDataType type;
  std::int64_t rows, columns, leading, stride = 0;
  std::int32_t copies = 1;
};

struct Product {
  std::int32_t transA = CUBLAS_OP_N, transB = CUBLAS_OP_N;
  std::int32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const float *bias = nullptr;
};

struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t alignments[4] = {256, 256, 256, 256};
};

Layout &of(cublasLtMatrixLayout_t layout) { return *reinterpret_cast<Layout *>(layout); }
Product &of(cublasLtMatmulDesc_t desc) { return *reinterpret_cast<Product *>(desc); }
Preference &of(cublasLtMatmulPreference_t p) { return *reinterpret_cast<Preference *>(p); }

float element(const void *data, const Layout &layout, std::int64_t copy, bool isTransposed,
              std::int64_t row, std::int64_t column) {
  const std::int64_t at = copy * layout.stride + (isTransposed ? column : row) +
                          (isTransposed ? row : column) * layout.leading;
  return layout.type == CUDA_R_16BF
             ? syncline::core::floatFromBf16(static_cast<const std::uint16_t *>(data)[at])
             : floats(data)[at];
}

template <typename T> cublasStatus_t copyTo(T &place, const void *value, std::size_t bytes) {
  if (bytes != sizeof place)
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&place, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

/// Whether op(a) · op(b) is of y's shape, all have as many copies, and types that go together.
bool fits(const Product &product, const Layout &a, const Layout &b, const Layout &y) {
  const bool isRounded = accepted == syncline::core::Precision::bf16;
  if (a.type != b.type || y.type != CUDA_R_32F ||
      (accepted && (a.type == CUDA_R_16BF) != isRounded))
    return false;
  const bool tA = product.transA == CUBLAS_OP_T, tB = product.transB == CUBLAS_OP_T;
  return (tA ? a.columns : a.rows) == y.rows && (tB ? b.rows : b.columns) == y.columns &&
         (tA ? a.rows : a.columns) == (tB ? b.columns : b.rows) && a.copies == y.copies &&
         b.copies == y.copies;
}

constexpr std::size_t neededWorkspace = 512;

/// What the heuristic writes into an algorithm: whose it is, whether it runs, and the alignments it
/// relies on.
struct Tag {
  std::uint32_t mark = 0, runs = 0;
  const Product *product = nullptr;
  std::uint32_t alignments[4] = {};
};
constexpr std::uint32_t heuristicsMark = 0x686F7374; // "host"

bool isAligned(const void *data, std::uint32_t bytes) {
  return bytes > 0 && reinterpret_cast<std::uintptr_t>(data) % bytes == 0;
}

/// Whether the algorithm is the heuristic's for this product, and the operands are as promised.
bool keepsPromises(const Tag &tag, const Product &product, const void *a, const void *b,
                   const void *c, const void *d) {
  const bool hasBias = product.epilogue & CUBLASLT_EPILOGUE_BIAS;
  return (!hasBias || isAligned(product.bias, tag.alignments[3])) && tag.mark == heuristicsMark &&
         tag.product == &product && isAligned(a, tag.alignments[0]) &&
         isAligned(b, tag.alignments[1]) && isAligned(c, tag.alignments[2]) &&
         isAligned(d, tag.alignments[3]);
}

/// d = op(a) · op(b) · scale + c · held, and the epilogue.
struct Task {
  Product product;
  Layout left, right, result;
  float scale, held;
  const void *a, *b;
  const float *c;
  float *d;
};

double sumAt(const Task &t, std::int64_t copy, std::int64_t i, std::int64_t j) {
  const bool tA = t.product.transA == CUBLAS_OP_T, tB = t.product.transB == CUBLAS_OP_T;
  double sum = 0;
  for (std::int64_t k = 0; k < (tA ? t.left.rows : t.left.columns); ++k)
    sum += double{element(t.a, t.left, copy, tA, i, k)} * element(t.b, t.right, copy, tB, k, j);
  return sum;
}

void multiply(const Task &t) {
  for (std::int64_t copy = 0; copy < t.result.copies; ++copy)
    for (std::int64_t j = 0; j < t.result.columns; ++j)
      for (std::int64_t i = 0; i < t.result.rows; ++i) {
        const std::int64_t at = copy * t.result.stride + i + j * t.result.leading;
        double value = t.scale * sumAt(t, copy, i, j);
        if (t.held != 0)
          value += double{t.held} * t.c[at];
        if (t.product.epilogue & CUBLASLT_EPILOGUE_BIAS)
          value += t.product.bias[i];
        if ((t.product.epilogue & CUBLASLT_EPILOGUE_RELU) == CUBLASLT_EPILOGUE_RELU)
          value = std::max(value, 0.0);
        t.d[at] = static_cast<float>(value);
      }
}

} // namespace

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(std::uintptr_t{1});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
const char *cublasLtGetStatusString(cublasStatus_t) { return "an error of the host's cuBLASLt"; }

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t leading) {
  if ((type != CUDA_R_32F && type != CUDA_R_16BF) || leading < static_cast<std::int64_t>(rows))
    return CUBLAS_STATUS_INVALID_VALUE;
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout{
      type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), leading});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(const cublasLtMatrixLayout_t layout) {
  delete &of(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void *value, std::size_t bytes) {
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)
    return copyTo(of(layout).copies, value, bytes);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)
    return copyTo(of(layout).stride, value, bytes);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  const bool isFull = compute == CUBLAS_COMPUTE_32F;
  if ((!isFull && compute != CUBLAS_COMPUTE_32F_FAST_TF32) || scale != CUDA_R_32F ||
      (accepted && isFull == (*accepted == syncline::core::Precision::tf32)))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  *desc = reinterpret_cast<cublasLtMatmulDesc_t>(new Product);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(const cublasLtMatmulDesc_t desc) {
  delete &of(desc);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, std::size_t bytes) {
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSA)
    return copyTo(of(desc).transA, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSB)
    return copyTo(of(desc).transB, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE)
    return copyTo(of(desc).epilogue, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_BIAS_POINTER)
    return copyTo(of(desc).bias, value, bytes);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(const cublasLtMatmulPreference_t preference) {
  delete &of(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void *value, std::size_t bytes) {
  Preference &own = of(preference);
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
    return copyTo(own.workspace, value, bytes);
  const int operand = attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES;
  if (operand < 0 || operand > 3)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  return copyTo(own.alignments[operand], value, bytes);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t y,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int *found) {
  if (!fits(of(desc), of(a), of(b), of(y)) || requested < 1 ||
      of(preference).workspace < neededWorkspace)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  // The first result is no algorithm, the second one refuses to run, the third one runs.
  *found = std::min(requested, 3);
  for (int i = 0; i < *found; ++i) {
    Tag tag{heuristicsMark, i == 2, &of(desc), {}};
    std::copy_n(of(preference).alignments, 4, tag.alignments);
    static_assert(sizeof tag <= sizeof results[0].algo.data);
    results[i] = {};
    std::memcpy(results[i].algo.data, &tag, sizeof tag);
    results[i].workspaceSize = neededWorkspace;
    results[i].state = i == 0 ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t aDesc, const void *b,
                              cublasLtMatrixLayout_t bDesc, const void *beta, const void *c,
                              cublasLtMatrixLayout_t, void *d, cublasLtMatrixLayout_t dDesc,
                              const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              std::size_t bytes, cudaStream_t stream) {
  if (!algorithm)
    return CUBLAS_STATUS_INVALID_VALUE;
  Tag tag;
  std::memcpy(&tag, algorithm->data, sizeof tag);
  if (!fits(of(desc), of(aDesc), of(bDesc), of(dDesc)) || bytes < neededWorkspace || !stream ||
      !keepsPromises(tag, of(desc), a, b, c, d))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!tag.runs)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const Task task{of(desc),      of(aDesc), of(bDesc), of(dDesc), *floats(alpha),
                  *floats(beta), a,         b,         floats(c), floats(d)};
  const cudaError_t error = enqueue(stream, [=] {
    std::memset(workspace, 0xFF, bytes);
    multiply(task);
  });
  return error ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}
