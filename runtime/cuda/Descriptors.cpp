// Descriptors of dense tensors.
#include "runtime/cuda/Descriptors.h"

#include "runtime/core/Strides.h"

namespace syncline::cuda {

std::vector<int> asInts(const Shape &values) { return {values.begin(), values.end()}; }

TensorDescriptor denseTensor(const Shape &dims) {
  TensorDescriptor descriptor;
  const std::vector<int> extents = asInts(dims), strides = asInts(denseStrides(dims));
  check(cudnnSetTensorNdDescriptor(descriptor, CUDNN_DATA_FLOAT, static_cast<int>(dims.size()),
                                   extents.data(), strides.data()),
        "cudnnSetTensorNdDescriptor");
  return descriptor;
}

FilterDescriptor denseFilter(const Shape &dims) {
  FilterDescriptor descriptor;
  check(cudnnSetFilterNdDescriptor(descriptor, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW,
                                   static_cast<int>(dims.size()), asInts(dims).data()),
        "cudnnSetFilterNdDescriptor");
  return descriptor;
}

} // namespace syncline::cuda
