// Describing a product to cuBLASLt, and choosing an algorithm.
#include "runtime/cuda/Product.h"

#include <algorithm>
#include <array>

namespace syncline::cuda {

namespace {

template <typename T> using Owned = std::shared_ptr<std::remove_pointer_t<T>>;

template <typename Value>
void set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, const Value &value) {
  SYNCLINE_CHECK(cublasLtMatmulDescSetAttribute(desc, attribute, &value, sizeof value));
}

template <typename Value>
void set(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute,
         const Value &value) {
  SYNCLINE_CHECK(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value));
}

/// A column-major layout for cuBLASLt. Matrices of a stack are `stride` elements apart.
Owned<cublasLtMatrixLayout_t> layoutOf(ElementType type, std::int64_t rows, std::int64_t columns,
                                       std::int64_t copies, std::int64_t stride) {
  cublasLtMatrixLayout_t made = nullptr;
  SYNCLINE_CHECK(cublasLtMatrixLayoutCreate(
      &made, type == ElementType::bf16 ? CUDA_R_16BF : CUDA_R_32F, static_cast<std::uint64_t>(rows),
      static_cast<std::uint64_t>(columns), rows));
  Owned<cublasLtMatrixLayout_t> layout(made, cublasLtMatrixLayoutDestroy);
  const auto count = static_cast<std::int32_t>(copies);
  SYNCLINE_CHECK(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                                  sizeof count));
  SYNCLINE_CHECK(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                  &stride, sizeof stride));
  return layout;
}

cublasLtEpilogue_t epilogueOf(const ProductOperands &operands) {
  return operands.bias.isValid() ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

Owned<cublasLtMatmulDesc_t> describe(const ProductShape &shape, const ProductOperands &operands,
                                     core::Precision precision) {
  const auto compute =
      precision == core::Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  cublasLtMatmulDesc_t made = nullptr;
  SYNCLINE_CHECK(cublasLtMatmulDescCreate(&made, compute, CUDA_R_32F));
  Owned<cublasLtMatmulDesc_t> desc(made, cublasLtMatmulDescDestroy);
  set(made, CUBLASLT_MATMUL_DESC_TRANSA, shape.transposeB ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(made, CUBLASLT_MATMUL_DESC_TRANSB, shape.transposeA ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(made, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogueOf(operands));
  return desc;
}

/// The offsets of one call's products, in elements.
struct Start {
  std::int64_t a, b, y;
};

/// One start for each index of the outer loops.
std::vector<Start> startsOf(const std::vector<core::CopyLoop> &outer, std::int64_t yStride) {
  std::vector<Start> starts{{0, 0, 0}};
  for (std::size_t l = outer.size(); l-- > 0; yStride *= outer[l].extent) {
    std::vector<Start> next;
    for (std::int64_t i = 0; i < outer[l].extent; ++i)
      for (const Start &s : starts)
        next.push_back({s.a + i * outer[l].to, s.b + i * outer[l].from, s.y + i * yStride});
    starts = std::move(next);
  }
  return starts;
}

} // namespace

struct Product::Plan {
  Program &program;
  ProductOperands operands;
  Owned<cublasLtMatmulDesc_t> desc;
  Owned<cublasLtMatrixLayout_t> a, b, y;
  std::vector<Start> starts;
  std::vector<cublasLtMatmulAlgo_t> algorithms; ///< the best first; the first one is used
  Scratch workspace;

  void choose(Preparation &p);
  cublasStatus_t multiply(const Start &start);
};

void Product::Plan::choose(Preparation &p) {
  cublasLtMatmulPreference_t made = nullptr;
  SYNCLINE_CHECK(cublasLtMatmulPreferenceCreate(&made));
  const Owned<cublasLtMatmulPreference_t> preference(made, cublasLtMatmulPreferenceDestroy);
  set(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(workspaceLimit));
  std::uint64_t alignments[3] = {256, 256, 256};
  const std::int64_t bytes = core::elementBytes(operands.type);
  for (const Start &s : starts) {
    alignments[0] = std::min(alignments[0], operands.b.after(s.b * bytes).alignment());
    alignments[1] = std::min(alignments[1], operands.a.after(s.a * bytes).alignment());
    alignments[2] = std::min(alignments[2], operands.y.after(s.y).alignment());
  }
  // There is no attribute for the bias, which the epilogue reads in accesses of the result's width.
  if (operands.bias.isValid())
    alignments[2] = std::min(alignments[2], operands.bias.alignment());
  const cublasLtMatmulPreferenceAttributes_t attributes[] = {
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES};
  for (int i = 0; i < 3; ++i)
    set(made, attributes[i], static_cast<std::uint32_t>(alignments[i]));
  set(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, static_cast<std::uint32_t>(alignments[2]));
  std::array<cublasLtMatmulHeuristicResult_t, 8> results{};
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      program.device.blas, desc.get(), b.get(), a.get(), y.get(), y.get(), made,
      static_cast<int>(results.size()), results.data(), &found);
  if (status != CUBLAS_STATUS_NOT_SUPPORTED)
    check(status, "cublasLtMatmulAlgoGetHeuristic");
  // The best algorithm determines the workspace; others are kept if they need no more.
  std::size_t needed = 0;
  for (int i = 0; i < found; ++i) {
    const cublasLtMatmulHeuristicResult_t &result = results[static_cast<std::size_t>(i)];
    if (result.state != CUBLAS_STATUS_SUCCESS)
      continue;
    needed = algorithms.empty() ? result.workspaceSize : needed;
    if (result.workspaceSize <= needed)
      algorithms.push_back(result.algo);
  }
  if (algorithms.empty())
    p.fail("cuBLASLt has no algorithm for these shapes within " +
           std::to_string(workspaceLimit >> 20) + " MiB of workspace");
  workspace = p.scratch(static_cast<std::int64_t>(needed));
}

cublasStatus_t Product::Plan::multiply(const Start &start) {
  const float one = 1, held = operands.addsToResult ? 1 : 0;
  const std::int64_t bytes = core::elementBytes(operands.type);
  const std::byte *const left = operands.b, *const right = operands.a;
  float *const result = operands.y + start.y;
  return cublasLtMatmul(program.device.blas, desc.get(), &one, left + start.b * bytes, b.get(),
                        right + start.a * bytes, a.get(), &held, result, y.get(), result, y.get(),
                        &algorithms.front(), program.at<void>(workspace),
                        static_cast<std::size_t>(workspace.bytes), program.device.compute);
}

Product::Product(Preparation &p, const ProductShape &s, const ProductOperands &operands) {
  const bool isStack = !s.stack.empty();
  const core::CopyLoop inner = isStack ? s.stack.back() : core::CopyLoop{1, 0, 0};
  const std::int64_t area = s.rows * s.columns;
  const std::vector<core::CopyLoop> outer(s.stack.begin(), s.stack.end() - (isStack ? 1 : 0));
  const std::int64_t m = s.columns, n = s.rows, k = s.inner;
  auto made = std::make_shared<Plan>(
      Plan{p.program,
           operands,
           describe(s, operands, p.program.options.precision),
           s.transposeA ? layoutOf(operands.type, n, k, inner.extent, inner.to)
                        : layoutOf(operands.type, k, n, inner.extent, inner.to),
           s.transposeB ? layoutOf(operands.type, k, m, inner.extent, inner.from)
                        : layoutOf(operands.type, m, k, inner.extent, inner.from),
           layoutOf(ElementType::f32, m, n, inner.extent, area),
           startsOf(outer, area * inner.extent),
           {},
           {}});
  made->choose(p);
  plan = std::move(made);
}

void Product::run() const {
  if (plan->operands.bias.isValid()) { // it may lie in scratch memory, whose address is known now
    const float *const bias = plan->operands.bias;
    set(plan->desc.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  }
  for (const Start &start : plan->starts) {
    cublasStatus_t status = plan->multiply(start);
    // The heuristic does not guarantee that an algorithm runs.
    while (status == CUBLAS_STATUS_NOT_SUPPORTED && plan->algorithms.size() > 1) {
      plan->algorithms.erase(plan->algorithms.begin());
      status = plan->multiply(start);
    }
    check(status, "cublasLtMatmul");
  }
}

} // namespace syncline::cuda
