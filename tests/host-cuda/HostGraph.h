// Descriptors of cuDNN's graph interface on the host.
//
// A descriptor holds the attributes that were set. Finalizing checks them and makes of them what
// later calls read.
#pragma once

#include "tests/host-cuda/HostDnn.h"

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace syncline::hostcuda {

struct BackendAttribute {
  cudnnBackendAttributeType_t type;
  std::int64_t count = 0;
  std::vector<std::byte> bytes;

  template <typename T> std::vector<T> values() const {
    std::vector<T> read(static_cast<std::size_t>(count));
    std::memcpy(read.data(), bytes.data(), bytes.size());
    return read;
  }
};

/// A tensor of a graph, with its number and what its address was promised to be a multiple of.
struct GraphTensor : cudnnTensorStruct {
  std::int64_t id = 0, alignment = 1;
};

/// The operation that adds up each channel of a tensor, and its squares.
struct GraphSums {
  std::int64_t of = 0; ///< the tensor's number
  GraphTensor sums, squares;
};

/// An operation graph, which holds one convolution, and may hold sums of its result.
struct GraphConvolution {
  cudnnBackendDescriptorType_t kind{};
  GraphTensor x, w, y;
  cudnnConvolutionStruct window;
  cudnnHandle_t handle = nullptr;
  std::optional<GraphSums> sums{};
};

/// What becomes of an engine that the heuristics list.
enum class EngineRole {
  forbidden,  ///< its notes tell the backend not to take it
  large,      ///< wants more workspace than anybody has
  unbuilt,    ///< refuses when its plan is finalized
  unrunnable, ///< refuses when its plan runs
  slow,
  quick,
};

/// An engine of the library.
struct HostEngine {
  std::int64_t index;
  EngineRole role;
  std::int64_t workspace;
  std::vector<cudnnBackendNumericalNote_t> notes;
  bool isCompiled = false;

  bool has(cudnnBackendNumericalNote_t note) const;
};

using Knobs = std::vector<std::pair<cudnnBackendKnobType_t, std::int64_t>>;

/// An engine and the values of its knobs.
struct HostConfiguration {
  const HostEngine *engine = nullptr;
  Knobs knobs;
};

struct BackendObject {
  cudnnBackendDescriptorType_t type{};
  bool isFinal = false;
  std::map<cudnnBackendAttributeName_t, BackendAttribute> attributes;

  // What finalizing, or a call that fills the descriptor, makes of it.
  GraphTensor tensor;
  cudnnConvolutionStruct window;
  std::shared_ptr<const GraphConvolution> graph; ///< an operation's, and all that is made of it
  GraphSums sums;                                ///< an operation's
  std::vector<HostConfiguration> results;        ///< of heuristics
  HostConfiguration configuration;               ///< of a configuration, an engine or a plan
  std::pair<cudnnBackendKnobType_t, std::int64_t> knob;
  std::shared_ptr<int> life; ///< of a plan: works that run it need it

  /// The values of an attribute that was set; empty where it was not.
  template <typename T> std::vector<T> values(cudnnBackendAttributeName_t name) const {
    const auto found = attributes.find(name);
    return found == attributes.end() ? std::vector<T>() : found->second.values<T>();
  }
};

/// The descriptor behind a handle; null where there is none, or no longer.
BackendObject *backendObject(cudnnBackendDescriptor_t handle);
/// The finalized descriptor of this type that an attribute refers to; null where there is none.
BackendObject *backendPart(const BackendObject &object, cudnnBackendAttributeName_t name,
                           cudnnBackendDescriptorType_t type);
/// A finalized descriptor of this type among several that an attribute refers to, or null.
BackendObject *backendPartOf(const BackendObject &object, cudnnBackendAttributeName_t name,
                             cudnnBackendDescriptorType_t type);

/// For what the backend must not do. cuDNN would say BAD_PARAM, after which the backend takes
/// another engine, and a test would not see the fault. `reason` becomes the last error's text.
cudnnStatus_t misused(const std::string &reason);

/// Finalize descriptors whose attributes are complete (HostGraphEngines.cpp).
cudnnStatus_t finalizeOperation(BackendObject &operation);
cudnnStatus_t finalizeSums(BackendObject &operation);
cudnnStatus_t finalizeGraph(BackendObject &graph);
cudnnStatus_t finalizeHeuristics(BackendObject &heuristics);
cudnnStatus_t finalizePlan(BackendObject &plan);

} // namespace syncline::hostcuda
