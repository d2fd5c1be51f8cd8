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

/// One product of two matrices: leading dimensions of a and y, if any, are more rows. A bias has
/// one row.
void appendSgemm(Preparation &p, Tensor a, bool transposeA, Tensor b, bool transposeB, Tensor bias,
                 Tensor y) {
  const std::int64_t n = p.shape(y).back(), m = core::elementCount(p.shape(y)) / n;
  const std::int64_t k = core::elementCount(p.shape(a)) / m;
  const std::int64_t lda = p.shape(a).back(), ldb = p.shape(b).back();
  const dnnl::memory row = bias.isValid() ? p.plainInput(bias) : dnnl::memory();
  p.call("sgemm", [=, a = p.plainInput(a), b = p.plainInput(b), y = p.plainOutput(y)] {
    for (std::int64_t i = 0; row && i < m; ++i)
      std::copy_n(pointer<float>(row), n, pointer<float>(y) + i * n);
    dnnl_sgemm(transposeA ? 'T' : 'N', transposeB ? 'T' : 'N', m, n, k, 1.0f, pointer<float>(a),
               lda, pointer<float>(b), ldb, row ? 1.0f : 0.0f, pointer<float>(y), n);
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

/// Whether the product is one of stacked rows by one matrix, of sums of many terms. oneDNN's sgemm
/// makes these sums of shorter parts than its matmul, so that they are more exact, and no slower.
/// Measured on AVX-512, 8 x 128 rows: 3072 to 768 features and back, steps of 64.8 and 62.6
/// ms by sgemm, 67.7 and 68.5 ms by matmul.
bool isLongStack(const Preparation &p, Tensor a, bool transposeA, Tensor b, Tensor bias, Tensor y) {
  constexpr std::int64_t leastDepth = 1024;
  const Shape &left = p.shape(a), &right = p.shape(b), &result = p.shape(y);
  const std::size_t rank = result.size();
  return rank > 2 && left.size() == rank && !transposeA && left.back() >= leastDepth &&
         std::equal(left.begin(), left.end() - 1, result.begin()) &&
         core::elementCount(right) == right[right.size() - 2] * right.back() &&
         (!bias.isValid() || p.shape(bias) == Shape{result.back()});
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
    const bool isFloat = operandType(p, a, transposeA, y) == DataType::f32;
    const bool isBare = !bias.isValid() && activation == Activation::none && !transposeB;
    const bool isLong = activation == Activation::none && isLongStack(p, a, transposeA, b, bias, y);
    if (isFloat && ((rank == 2 && isBare) || isLong))
      appendSgemm(p, a, transposeA, b, transposeB, bias, y);
    else
      appendMatmul(p, a, transposeA, b, transposeB, bias, y, activation);
  });
}

} // namespace syncline::cpu
