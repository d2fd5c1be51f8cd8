// Describing tensors in the backend's layouts.
#include "runtime/cuda/dnn/Descriptors.h"

namespace syncline::cuda {

cudnnDataType_t dnnType(const Layout &layout) {
  return layout.type == ElementType::bf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
}

std::vector<int> asInts(const Shape &values) { return {values.begin(), values.end()}; }

TensorDescriptor describeTensor(const Shape &dims, const Layout &layout) {
  TensorDescriptor descriptor;
  const std::vector<int> extents = asInts(dims), strides = asInts(stridesOf(layout, dims));
  SYNCLINE_CHECK(cudnnSetTensorNdDescriptor(
      descriptor, dnnType(layout), static_cast<int>(dims.size()), extents.data(), strides.data()));
  return descriptor;
}

FilterDescriptor describeFilter(const Shape &dims, const Layout &layout) {
  FilterDescriptor descriptor;
  SYNCLINE_CHECK(cudnnSetFilterNdDescriptor(
      descriptor, dnnType(layout), layout.isChannelsLast ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
      static_cast<int>(dims.size()), asInts(dims).data()));
  return descriptor;
}

} // namespace syncline::cuda
