// Matrix products by cuBLASLt, with the bias in its epilogue. An activation is a separate kernel,
// because cuBLASLt's treatment of NaN is not documented and results are small compared with
// weights. Operands have the precision's type; results are f32.
//
// cuBLASLt is column-major and tensors here are row-major, so y = a·b is computed as yᵀ = bᵀ·aᵀ: b
// is cuBLASLt's first operand and a its second, and a bias along columns is one along its rows.
#include "runtime/cuda/Copies.h"
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/Product.h"
#include "runtime/cuda/kernels/Kernels.h"

#include <algorithm>

namespace syncline::cuda {

namespace {

/// The operand's strides for the first `count` of the result's `rank` dimensions; 0 where the
/// operand is broadcast.
Shape broadcastStrides(const Shape &shape, std::size_t rank, std::size_t count) {
  const Shape own = core::denseStrides(shape);
  Shape strides(count, 0);
  const std::size_t missing = rank - shape.size();
  for (std::size_t i = missing; i < count; ++i)
    if (shape[i - missing] != 1)
      strides[i] = own[i - missing];
  return strides;
}

/// The sizes of one product, and the strides of the stack.
ProductShape shapeOf(const Preparation &p, Tensor a, bool transposeA, Tensor b, bool transposeB,
                     Tensor y) {
  const Shape &left = p.shape(a), &right = p.shape(b), &result = p.shape(y);
  const std::size_t leading = result.size() - 2;
  ProductShape shape;
  shape.rows = result[leading];
  shape.columns = result[leading + 1];
  shape.inner = left[left.size() - (transposeA ? 2 : 1)];
  shape.transposeA = transposeA;
  shape.transposeB = transposeB;
  shape.stack =
      core::mergedLoops(Shape(result.begin(), result.begin() + static_cast<long>(leading)),
                        broadcastStrides(left, result.size(), leading),
                        broadcastStrides(right, result.size(), leading));
  const bool isTall = shape.stack.size() == 1 && !transposeA && shape.stack[0].from == 0 &&
                      shape.stack[0].to == shape.rows * shape.inner;
  if (isTall) { // all products have the same right operand, so they become one product of many rows
    shape.rows *= shape.stack[0].extent;
    shape.stack.clear();
  }
  return shape;
}

} // namespace

void CudaBuilder::matmul(std::string_view layer, Tensor a, bool transposeA, Tensor b,
                         bool transposeB, Tensor bias, Tensor y, Activation activation) {
  prepare("matmul", layer, [&](Preparation &p) {
    p.expectType(a, {ElementType::f32});
    core::checkMatmul(p, a, transposeA, b, transposeB, bias, y);
    const ProductShape shape = shapeOf(p, a, transposeA, b, transposeB, y);
    const Layout layout{productType(program.options.precision), false};
    ProductOperands operands;
    operands.type = layout.type;
    operands.a = p.input<std::byte>(a, layout);
    operands.b = p.input<std::byte>(b, layout);
    operands.y = p.output(y);
    if (bias.isValid()) {
      const auto added = p.input(bias);
      if (p.count(bias) == shape.columns && p.shape(bias).back() == shape.columns) {
        operands.bias = added;
      } else { // the result is initialised with the bias, to which the product is added
        operands.addsToResult = true;
        const std::size_t rank = p.shape(y).size();
        p.call("", [&program = program, added, to = operands.y,
                    copy = prepareCopy(p, p.shape(y), core::denseStrides(p.shape(y)),
                                       broadcastStrides(p.shape(bias), rank, rank), sizeof(float),
                                       std::min(added.alignment(), operands.y.alignment()))] {
          copy.run(program.device.compute, to, added);
        });
      }
    }
    const Product product(p, shape, operands);
    p.call(layout.type == ElementType::f32 ? "cublasLt" : "cublasLt " + describe(layout),
           [product] { product.run(); });
    if (activation == Activation::relu)
      p.call("", [&program = program, to = operands.y, n = p.count(y)] {
        SYNCLINE_CHECK(addBias<float>(program.device.compute, to, nullptr, 1, 1, /*relu=*/true, n));
      });
  });
}

} // namespace syncline::cuda
