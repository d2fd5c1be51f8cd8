// Owned cuDNN descriptors. Copies share a descriptor, and the last copy destroys it.
#pragma once

#include "runtime/cuda/Check.h"
#include "runtime/cuda/Layout.h"
#include "syncline/Step.h"

#include <memory>
#include <type_traits>
#include <vector>

namespace syncline::cuda {

/// Handle is a pointer to a library's struct; Create and Destroy are the library's functions.
template <typename Handle, auto Create, auto Destroy> class Descriptor {
public:
  Descriptor() {
    Handle made = nullptr;
    check(Create(&made), "cudnnCreateDescriptor");
    own.reset(made, [](Handle handle) { Destroy(handle); });
  }
  operator Handle() const { return own.get(); }

private:
  std::shared_ptr<std::remove_pointer_t<Handle>> own;
};

using TensorDescriptor =
    Descriptor<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using FilterDescriptor =
    Descriptor<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using ConvolutionDescriptor =
    Descriptor<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor,
               cudnnDestroyConvolutionDescriptor>;

/// The values as ints, for cuDNN. Precondition: no value is above 2^31 - 1.
std::vector<int> asInts(const Shape &values);

/// The type of a layout's elements, f32 or bf16.
cudnnDataType_t dnnType(const Layout &layout);

/// Describes a tensor with 4 or 5 dimensions, as cuDNN requires. Preconditions:
/// Preparation::expectCountable; the type is f32 or bf16.
TensorDescriptor describeTensor(const Shape &dims, const Layout &layout = {});
FilterDescriptor describeFilter(const Shape &dims, const Layout &layout);

} // namespace syncline::cuda
