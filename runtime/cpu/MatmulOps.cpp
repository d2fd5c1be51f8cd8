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
#include <omp.h>
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

/// From so many rows and columns on, storing a result several times takes no longer.
constexpr std::int64_t leastExtent = 64;

/// y[m,n] = op(a)·op(b), of k terms an element, or with `adds` y += op(a)·op(b).
///
/// Terms are summed in parts of at most 128. oneDNN's own parts of 384 terms and more make sums of
/// random terms 1.4 times as inexact as PyTorch's with MKL, and these parts 0.85 times. Measured on
/// AVX-512, one core: 768 x 192 sums of 3,136 terms take 3.6 ms in parts and 3.9 ms at once.
struct Product {
  std::int64_t m, n, k, lda, ldb;
  bool transposeA, transposeB, adds;

  void run(const float *a, const float *b, float *y) const {
    const std::int64_t extent = std::max(m, n), slices = numberOfSlices();
#pragma omp parallel for schedule(static) if (slices > 1)
    for (std::int64_t i = 0; i < slices; ++i) {
      const std::int64_t first = edge(extent, i, slices);
      runSlice(a, b, y, first, edge(extent, i + 1, slices) - first);
    }
  }

private:
  /// Where slice i begins: between tiles of oneDNN's kernels, 6 x 16 elements with AVX2 and 48 x 8
  /// with AVX-512. Elements behind the last whole tile are summed by another kernel, which rounds
  /// otherwise, so that other edges would make sums depend on the number of threads.
  static std::int64_t edge(std::int64_t extent, std::int64_t i, std::int64_t slices) {
    constexpr std::int64_t tile = 48;
    return i == slices ? extent : extent * i / slices / tile * tile;
  }

  /// One team of threads computes slices of y with all parts, and a slice stays in a cache, unless
  /// it would be so narrow that reading the other operand again takes longer: 128 x 25,088 sums of
  /// 1,024 terms take 28 ms by slices and at once, 34 ms by parts of the whole. A single part is
  /// divided by oneDNN.
  std::int64_t numberOfSlices() const {
    if (numberOfParts() == 1)
      return 1;
    constexpr std::int64_t elements = 1 << 18, leastWidth = 2048;
    const std::int64_t extent = std::max(m, n);
    const std::int64_t width = std::max(leastWidth, elements / std::min(m, n));
    const std::int64_t threads =
        std::clamp<std::int64_t>(omp_get_max_threads(), 1, extent / leastExtent);
    const std::int64_t rounds = (extent / width + threads - 1) / threads;
    return threads * std::max<std::int64_t>(rounds, 1);
  }

  std::int64_t numberOfParts() const {
    constexpr std::int64_t terms = 128;
    return std::min(m, n) < leastExtent ? 1 : std::max<std::int64_t>((k + terms - 1) / terms, 1);
  }

  /// Some columns of y, or rows where it has at least as many of those.
  void runSlice(const float *a, const float *b, float *y, std::int64_t first,
                std::int64_t count) const {
    const bool byColumns = n > m;
    if (byColumns)
      b += first * (transposeB ? ldb : 1);
    else
      a += first * (transposeA ? 1 : lda);
    y += byColumns ? first : first * n;
    const std::int64_t rows = byColumns ? m : count, columns = byColumns ? count : n;
    const std::int64_t parts = numberOfParts();
    for (std::int64_t i = 0; i < parts; ++i) {
      const std::int64_t term = k * i / parts, terms = k * (i + 1) / parts - term;
      dnnl_sgemm(transposeA ? 'T' : 'N', transposeB ? 'T' : 'N', rows, columns, terms, 1.0f,
                 a + term * (transposeA ? lda : 1), lda, b + term * (transposeB ? 1 : ldb), ldb,
                 adds || i > 0 ? 1.0f : 0.0f, y, n);
    }
  }
};

/// One product of two matrices. A bias has one row.
void appendSgemm(Preparation &p, const Factors &f, Tensor a, Tensor b, Tensor bias, Tensor y) {
  const dnnl::memory row = bias.isValid() ? p.plainInput(bias) : dnnl::memory();
  const Product product{f.y[0],       f.y[1],        f.a[f.transposeA ? 0 : 1],
                        f.a[1],       f.b[1],        f.transposeA,
                        f.transposeB, bias.isValid()};
  p.call("sgemm", [=, a = p.plainInput(a), b = p.plainInput(b), y = p.plainOutput(y)] {
    for (std::int64_t i = 0; row && i < product.m; ++i)
      std::copy_n(pointer<float>(row), product.n, pointer<float>(y) + i * product.n);
    product.run(pointer<float>(a), pointer<float>(b), pointer<float>(y));
  });
}

/// The type in which a product reads its operands.
DataType operandType(const Preparation &p, Tensor a, const Factors &f) {
  constexpr std::int64_t leastExtent = 32;
  const std::size_t rank = f.y.size(), depth = f.a.size() - (f.transposeA ? 2 : 1);
  const bool isLong = std::min({f.a[depth], f.y[rank - 1], f.y[rank - 2]}) >= leastExtent;
  return isLong ? p.productTypes(a).front() : p.type(a);
}

/// Whether the product is one of rows by one matrix, of sums of many terms. oneDNN's sgemm makes
/// these sums in parts, so that they are more exact than its matmul's, and no slower. Measured on
/// AVX-512: 1,024 rows of 768 features become 3,072 or 768 in 0.93 to 1.04 of matmul's time; 8 x
/// 128 rows, 3,072 to 768 features and back, steps of 64.8 and 62.6 ms by sgemm, 67.7 and 68.5 ms
/// by matmul.
bool hasLongSums(const Factors &f, std::size_t rank) {
  const bool isLarge = f.y.size() == 2 && std::min(f.y[0], f.y[1]) >= leastExtent;
  const std::int64_t leastDepth = isLarge ? 384 : 1024;
  const std::int64_t depth = f.a[f.transposeA ? 0 : 1];
  const bool hasRow =
      f.bias.empty() || (f.bias.back() == f.y.back() && core::elementCount(f.bias) == f.y.back());
  return f.y.size() == 2 && (rank > 2 || isLarge) && depth >= leastDepth && hasRow;
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
    if (isFloat && activation == Activation::none && (isBare || hasLongSums(f, p.shape(y).size())))
      appendSgemm(p, f, a, b, bias, y);
    else
      appendMatmul(p, f, a, b, bias, y, activation);
  });
}

} // namespace syncline::cpu
