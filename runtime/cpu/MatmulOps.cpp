// Matrix products. With the small batches of training on CPUs, reading the weights dominates a
// fully connected layer, so weights stay plain. Measured on AVX-512 (16 samples, 25088 to 4096
// features), by oneDNN's matmul and by its sgemm: x·Wᵀ 50 and 64 ms, dy·W 93 and 66 ms, dyᵀ·x 96
// and 40 ms.
//
// With --precision bf16 a product has operands of bf16 and a result of f32, unless one of its
// dimensions is so short that converting its operands takes longer than bf16 saves.
#include "runtime/cpu/CpuBuilder.h"
#include "runtime/cpu/NotANumber.h"

#include <algorithm>
#include <utility>

namespace syncline::cpu {

namespace {

/// The layout of a plain, possibly transposed operand for oneDNN's matmul, with the result's rank.
Layout operandLayout(const Preparation &p, Tensor tensor, bool transpose, std::size_t rank,
                     DataType type) {
  Shape dims = p.shape(tensor);
  dims.insert(dims.begin(), rank - dims.size(), 1);
  Shape strides(rank);
  std::int64_t stride = 1;
  for (std::size_t i = rank; i-- > 0; stride *= dims[i])
    strides[i] = stride;
  if (transpose) {
    std::swap(dims[rank - 1], dims[rank - 2]);
    std::swap(strides[rank - 1], strides[rank - 2]);
  }
  return Layout(dims, type, strides);
}

Layout paddedRank(const Preparation &p, Tensor tensor, std::size_t rank) {
  Shape dims = p.shape(tensor);
  dims.insert(dims.begin(), rank - dims.size(), 1);
  return plainLayout(dims, p.type(tensor));
}

void appendSgemm(Preparation &p, Tensor a, bool transposeA, Tensor b, bool transposeB, Tensor y) {
  const std::int64_t m = p.shape(y)[0], n = p.shape(y)[1];
  const std::int64_t k = p.shape(a)[transposeA ? 0 : 1];
  const std::int64_t lda = p.shape(a)[1], ldb = p.shape(b)[1];
  p.call("sgemm", [=, a = p.plainInput(a), b = p.plainInput(b), y = p.plainOutput(y)] {
    dnnl_sgemm(transposeA ? 'T' : 'N', transposeB ? 'T' : 'N', m, n, k, 1.0f, pointer<float>(a),
               lda, pointer<float>(b), ldb, 0.0f, pointer<float>(y), n);
  });
}

/// The type in which a product reads its operands.
DataType operandType(const Preparation &p, Tensor a, bool transposeA, Tensor y) {
  constexpr std::int64_t leastExtent = 32;
  const Shape &left = p.shape(a), &result = p.shape(y);
  const std::size_t rank = left.size();
  const bool isLong = std::min({left[rank - (transposeA ? 2 : 1)], result[result.size() - 1],
                                result[result.size() - 2]}) >= leastExtent;
  return isLong ? p.productTypes(a).front() : p.type(a);
}

void appendMatmul(Preparation &p, Tensor a, bool transposeA, Tensor b, bool transposeB, Tensor bias,
                  Tensor y, Activation activation) {
  const std::size_t rank = p.shape(y).size();
  const DataType type = operandType(p, a, transposeA, y);
  const Layout left = operandLayout(p, a, transposeA, rank, type);
  const Layout right = operandLayout(p, b, transposeB, rank, type);
  const Layout result = p.plain(y);
  using Desc = dnnl::matmul::primitive_desc;
  const Desc desc = bias.isValid() ? Desc({left, right, paddedRank(p, bias, rank), result},
                                          p.attributes(), p.program.engine)
                                   : Desc({left, right, result}, p.attributes(), p.program.engine);
  std::unordered_map<int, dnnl::memory> arguments{
      {DNNL_ARG_SRC, p.alias(p.input(a, plainLayout(p.shape(a), type)), left)},
      {DNNL_ARG_WEIGHTS, p.alias(p.input(b, plainLayout(p.shape(b), type)), right)},
      {DNNL_ARG_DST, p.plainOutput(y)}};
  if (bias.isValid())
    arguments.emplace(DNNL_ARG_BIAS, p.alias(p.plainInput(bias), paddedRank(p, bias, rank)));
  const dnnl::memory to = arguments.at(DNNL_ARG_DST);
  p.primitive(dnnl::matmul(desc), desc, std::move(arguments));
  if (activation == Activation::relu)
    appendRelu(p, to);
}

} // namespace

void CpuBuilder::matmul(std::string_view layer, Tensor a, bool transposeA, Tensor b,
                        bool transposeB, Tensor bias, Tensor y, Activation activation) {
  prepare("matmul", layer, [&](Preparation &p) {
    p.expectType(a, {ElementType::f32, ElementType::bf16});
    const std::size_t rank = p.shape(y).size();
    core::checkMatmul(p, a, transposeA, b, transposeB, bias, y);
    const bool isSingle = rank == 2 && operandType(p, a, transposeA, y) == DataType::f32;
    const bool isBare = !bias.isValid() && activation == Activation::none;
    if (isSingle && isBare && !transposeB)
      appendSgemm(p, a, transposeA, b, transposeB, y);
    else
      appendMatmul(p, a, transposeA, b, transposeB, bias, y, activation);
  });
}

} // namespace syncline::cpu
