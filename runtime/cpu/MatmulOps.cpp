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
#include <functional>
#include <numeric>
#include <utility>

namespace syncline::cpu {

namespace {

/// A product's operands with their dimensions.
struct Factors {
  Shape a, b, bias, y; ///< without a bias, its dimensions are empty
  bool transposeA, transposeB;
};

/// Matrices that are multiplied by the same matrix and lie behind one another are one tall matrix.
Factors folded(Factors f) {
  const std::size_t rank = f.y.size();
  const auto leadingOnes = [](const Shape &dims, std::size_t last) {
    return std::all_of(dims.begin(), dims.end() - static_cast<std::ptrdiff_t>(last),
                       [](std::int64_t extent) { return extent == 1; });
  };
  const bool isShared = leadingOnes(f.b, 2) && (f.bias.empty() || leadingOnes(f.bias, 1));
  const bool isWhole =
      f.a.size() == rank && std::equal(f.a.begin(), f.a.end() - 2, f.y.begin(), f.y.end() - 2);
  if (rank == 2 || f.transposeA || !isShared || !isWhole)
    return f;
  const std::int64_t columns = f.y.back(), depth = f.a.back();
  const std::int64_t rows =
      std::accumulate(f.y.begin(), f.y.end() - 1, std::int64_t{1}, std::multiplies<>());
  f.b.erase(f.b.begin(), f.b.end() - 2);
  f.a = {rows, depth};
  f.y = {rows, columns};
  if (!f.bias.empty())
    f.bias = {1, f.bias.back()};
  return f;
}

Shape paddedRank(Shape dims, std::size_t rank) {
  dims.insert(dims.begin(), rank - dims.size(), 1);
  return dims;
}

/// The layout of a plain, possibly transposed operand for oneDNN's matmul, with the result's rank.
Layout operandLayout(const Shape &shape, bool transpose, std::size_t rank, DataType type) {
  Shape dims = paddedRank(shape, rank);
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

/// One product of two matrices. A bias has one row.
void appendSgemm(Preparation &p, const Factors &f, Tensor a, Tensor b, Tensor bias, Tensor y) {
  const std::int64_t m = f.y[0], n = f.y[1], k = f.a[f.transposeA ? 0 : 1];
  const std::int64_t lda = f.a[1], ldb = f.b[1];
  const char orderA = f.transposeA ? 'T' : 'N', orderB = f.transposeB ? 'T' : 'N';
  const dnnl::memory row = bias.isValid() ? p.plainInput(bias) : dnnl::memory();
  p.call("sgemm", [=, a = p.plainInput(a), b = p.plainInput(b), y = p.plainOutput(y)] {
    for (std::int64_t i = 0; row && i < m; ++i)
      std::copy_n(pointer<float>(row), n, pointer<float>(y) + i * n);
    dnnl_sgemm(orderA, orderB, m, n, k, 1.0f, pointer<float>(a), lda, pointer<float>(b), ldb,
               row ? 1.0f : 0.0f, pointer<float>(y), n);
  });
}

/// The type in which a product reads its operands.
DataType operandType(const Preparation &p, Tensor a, const Factors &f) {
  constexpr std::int64_t leastExtent = 32;
  const std::size_t rank = f.y.size(), depth = f.a.size() - (f.transposeA ? 2 : 1);
  const bool isLong = std::min({f.a[depth], f.y[rank - 1], f.y[rank - 2]}) >= leastExtent;
  return isLong ? p.productTypes(a).front() : p.type(a);
}

/// Whether the product is one of stacked rows by one matrix, of sums of many terms. oneDNN's sgemm
/// makes these sums of shorter parts than its matmul, so that they are more exact, and no slower.
/// Measured on AVX-512, 8 x 128 rows: 3072 to 768 features and back, steps of 64.8 and 62.6
/// ms by sgemm, 67.7 and 68.5 ms by matmul.
bool isLongStack(const Factors &f, std::size_t rank) {
  constexpr std::int64_t leastDepth = 1024;
  return rank > 2 && f.y.size() == 2 && f.a.back() >= leastDepth &&
         (f.bias.empty() || f.bias.back() == f.y.back());
}

void appendMatmul(Preparation &p, const Factors &f, Tensor a, Tensor b, Tensor bias, Tensor y,
                  Activation activation) {
  const std::size_t rank = f.y.size();
  const DataType type = operandType(p, a, f);
  const Layout left = operandLayout(f.a, f.transposeA, rank, type);
  const Layout right = operandLayout(f.b, f.transposeB, rank, type);
  const Layout result = plainLayout(f.y, p.type(y));
  const Layout added =
      bias.isValid() ? plainLayout(paddedRank(f.bias, rank), p.type(bias)) : Layout();
  using Desc = dnnl::matmul::primitive_desc;
  const Desc desc = bias.isValid()
                        ? Desc({left, right, added, result}, p.attributes(), p.program.engine)
                        : Desc({left, right, result}, p.attributes(), p.program.engine);
  const dnnl::memory to = p.plainOutput(y);
  std::unordered_map<int, dnnl::memory> arguments{
      {DNNL_ARG_SRC, p.alias(p.input(a, plainLayout(p.shape(a), type)), left)},
      {DNNL_ARG_WEIGHTS, p.alias(p.input(b, plainLayout(p.shape(b), type)), right)},
      {DNNL_ARG_DST, p.alias(to, result)}};
  if (bias.isValid())
    arguments.emplace(DNNL_ARG_BIAS, p.alias(p.plainInput(bias), added));
  p.primitive(dnnl::matmul(desc), desc, std::move(arguments));
  if (activation == Activation::relu)
    appendRelu(p, to);
}

} // namespace

void CpuBuilder::matmul(std::string_view layer, Tensor a, bool transposeA, Tensor b,
                        bool transposeB, Tensor bias, Tensor y, Activation activation) {
  prepare("matmul", layer, [&](Preparation &p) {
    p.expectType(a, {ElementType::f32, ElementType::bf16});
    core::checkMatmul(p, a, transposeA, b, transposeB, bias, y);
    const Factors f = folded({p.shape(a), p.shape(b), bias.isValid() ? p.shape(bias) : Shape(),
                              p.shape(y), transposeA, transposeB});
    const bool isFloat = operandType(p, a, f) == DataType::f32;
    const bool isBare = p.shape(y).size() == 2 && !bias.isValid() && !transposeB;
    if (isFloat && activation == Activation::none && (isBare || isLongStack(f, p.shape(y).size())))
      appendSgemm(p, f, a, b, bias, y);
    else
      appendMatmul(p, f, a, b, bias, y, activation);
  });
}

} // namespace syncline::cpu
