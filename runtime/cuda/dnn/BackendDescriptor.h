// Owned descriptors of cuDNN's graph interface, with typed attributes. Copies share a descriptor.
#pragma once

#include "runtime/cuda/Check.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace syncline::cuda {

/// A call of the graph interface that failed. Callers turn it into a status, because most failures
/// only mean that another engine has to do.
struct GraphFailure {
  cudnnStatus_t status;
  const char *call;
};

/// Throws a GraphFailure where the call failed.
void checkGraph(cudnnStatus_t status, const char *call);

/// What cuDNN calls attributes of the argument's type.
constexpr auto attributeType(std::int64_t) { return CUDNN_TYPE_INT64; }
constexpr auto attributeType(float) { return CUDNN_TYPE_FLOAT; }
constexpr auto attributeType(void *) { return CUDNN_TYPE_VOID_PTR; }
constexpr auto attributeType(cudnnHandle_t) { return CUDNN_TYPE_HANDLE; }
constexpr auto attributeType(cudnnDataType_t) { return CUDNN_TYPE_DATA_TYPE; }
constexpr auto attributeType(cudnnConvolutionMode_t) { return CUDNN_TYPE_CONVOLUTION_MODE; }
constexpr auto attributeType(cudnnGenStatsMode_t) { return CUDNN_TYPE_GENSTATS_MODE; }
constexpr auto attributeType(cudnnBackendHeurMode_t) { return CUDNN_TYPE_HEUR_MODE; }
constexpr auto attributeType(cudnnBackendKnobType_t) { return CUDNN_TYPE_KNOB_TYPE; }
constexpr auto attributeType(cudnnBackendNumericalNote_t) { return CUDNN_TYPE_NUMERICAL_NOTE; }
constexpr auto attributeType(cudnnBackendBehaviorNote_t) { return CUDNN_TYPE_BEHAVIOR_NOTE; }

/// All functions throw GraphFailure. Attributes are set before finalize() and read after it.
class BackendDescriptor {
public:
  explicit BackendDescriptor(cudnnBackendDescriptorType_t type);

  template <typename T>
  void set(cudnnBackendAttributeName_t name, std::span<const T> values) const {
    set(name, attributeType(T{}), values.size(), values.data());
  }
  template <typename T> void set(cudnnBackendAttributeName_t name, const T &value) const {
    set(name, std::span<const T>(&value, 1));
  }
  void set(cudnnBackendAttributeName_t name, const std::vector<std::int64_t> &values) const {
    set(name, std::span<const std::int64_t>(values));
  }
  /// The descriptor keeps its parts alive.
  void set(cudnnBackendAttributeName_t name, const std::vector<BackendDescriptor> &parts) const;
  void set(cudnnBackendAttributeName_t name, const BackendDescriptor &part) const {
    set(name, std::vector{part});
  }
  void finalize() const;

  /// At most so many values of an attribute.
  template <typename T>
  std::vector<T> list(cudnnBackendAttributeName_t name, std::size_t most) const {
    std::vector<T> values(most);
    values.resize(get(name, attributeType(T{}), most, values.data()));
    return values;
  }
  /// The only value of an attribute.
  template <typename T> T value(cudnnBackendAttributeName_t name) const {
    T value{};
    if (get(name, attributeType(T{}), 1, &value) != 1)
      throw GraphFailure{CUDNN_STATUS_BAD_PARAM, "cudnnBackendGetAttribute"};
    return value;
  }
  /// At most so many descriptors of this type, which keep this one alive. Without a number, as many
  /// as there are.
  std::vector<BackendDescriptor> parts(cudnnBackendAttributeName_t name,
                                       cudnnBackendDescriptorType_t type, std::size_t most) const;
  std::vector<BackendDescriptor> parts(cudnnBackendAttributeName_t name,
                                       cudnnBackendDescriptorType_t type) const;

  cudnnBackendDescriptor_t handle() const { return own->handle; }

private:
  struct Owned {
    ~Owned();
    cudnnBackendDescriptor_t handle = nullptr;
    std::vector<BackendDescriptor> kept; ///< what the descriptor refers to
  };

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::size_t count,
           const void *values) const;
  /// Returns the number of values that were written.
  std::size_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  std::size_t most, void *values) const;

  std::shared_ptr<Owned> own;
};

} // namespace syncline::cuda
