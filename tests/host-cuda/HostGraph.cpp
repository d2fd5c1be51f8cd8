// Descriptors of cuDNN's graph interface on the host: which attributes there are, and when they may
// be set and read.
#include "tests/host-cuda/HostGraph.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <numeric>
#include <set>

using namespace syncline;
using namespace syncline::hostcuda;

namespace {

/// An attribute that must be set: its type, and how many values it takes at most.
struct AttributeRule {
  cudnnBackendDescriptorType_t owner;
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  std::int64_t most = 1;
};

constexpr auto int64 = CUDNN_TYPE_INT64, descriptor = CUDNN_TYPE_BACKEND_DESCRIPTOR,
               factor = CUDNN_TYPE_FLOAT, pointer = CUDNN_TYPE_VOID_PTR;
constexpr auto tensor = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
constexpr auto window = CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR;
constexpr auto forward = CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
constexpr auto backwardData = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR;
constexpr auto backwardFilter = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR;
constexpr auto sums = CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR;
constexpr auto graph = CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR;
constexpr auto heuristics = CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR;
constexpr auto plan = CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR;
constexpr auto pack = CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR;

const std::array rules{
    AttributeRule{tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, int64},
    AttributeRule{tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE},
    AttributeRule{tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64},
    AttributeRule{tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, int64, CUDNN_DIM_MAX},
    AttributeRule{tensor, CUDNN_ATTR_TENSOR_STRIDES, int64, CUDNN_DIM_MAX},
    AttributeRule{window, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE},
    AttributeRule{window, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE},
    AttributeRule{window, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64},
    AttributeRule{window, CUDNN_ATTR_CONVOLUTION_DILATIONS, int64, CUDNN_DIM_MAX},
    AttributeRule{window, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, int64, CUDNN_DIM_MAX},
    AttributeRule{window, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, int64, CUDNN_DIM_MAX},
    AttributeRule{window, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, int64, CUDNN_DIM_MAX},
    AttributeRule{forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, descriptor},
    AttributeRule{forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, descriptor},
    AttributeRule{forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, descriptor},
    AttributeRule{forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, descriptor},
    AttributeRule{forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, factor},
    AttributeRule{forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, factor},
    AttributeRule{backwardData, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, descriptor},
    AttributeRule{backwardData, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, descriptor},
    AttributeRule{backwardData, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, descriptor},
    AttributeRule{backwardData, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, descriptor},
    AttributeRule{backwardData, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, factor},
    AttributeRule{backwardData, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, factor},
    AttributeRule{backwardFilter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, descriptor},
    AttributeRule{backwardFilter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, descriptor},
    AttributeRule{backwardFilter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, descriptor},
    AttributeRule{backwardFilter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                  descriptor},
    AttributeRule{backwardFilter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, factor},
    AttributeRule{backwardFilter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, factor},
    AttributeRule{sums, CUDNN_ATTR_OPERATION_GENSTATS_MODE, CUDNN_TYPE_GENSTATS_MODE},
    AttributeRule{sums, CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_TYPE_DATA_TYPE},
    AttributeRule{sums, CUDNN_ATTR_OPERATION_GENSTATS_XDESC, descriptor},
    AttributeRule{sums, CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, descriptor},
    AttributeRule{sums, CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, descriptor},
    AttributeRule{graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE},
    AttributeRule{graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, descriptor, 2},
    AttributeRule{heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, descriptor},
    AttributeRule{heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE},
    AttributeRule{plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE},
    AttributeRule{plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, descriptor},
    AttributeRule{pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, int64, 8},
    AttributeRule{pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, pointer, 8},
    AttributeRule{pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, pointer},
};

std::size_t bytesOf(cudnnBackendAttributeType_t type) {
  switch (type) {
  case CUDNN_TYPE_INT64:
  case CUDNN_TYPE_HANDLE:
  case CUDNN_TYPE_VOID_PTR:
  case CUDNN_TYPE_BACKEND_DESCRIPTOR:
    return 8;
  default:
    return 4; // floats and enumerations
  }
}

std::mutex lock;
std::map<cudnnBackendDescriptor_t, std::unique_ptr<BackendObject>> living;

cudnnStatus_t finalizeTensor(BackendObject &object) {
  object.tensor.dims = object.values<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const Shape dims = object.tensor.dims,
              strides = object.values<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  object.tensor.type = object.values<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE)[0];
  object.tensor.id = object.values<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID)[0];
  object.tensor.alignment = object.values<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT)[0];
  const std::int64_t width = object.tensor.type == CUDNN_DATA_BFLOAT16 ? 2 : 4;
  const auto isPositive = [](std::int64_t n) { return n > 0; };
  if (dims.size() != strides.size() || dims.size() < 4 ||
      !std::all_of(dims.begin(), dims.end(), isPositive) ||
      !std::all_of(strides.begin(), strides.end(), isPositive))
    return misused("extents and strides of a tensor");
  if (object.tensor.alignment <= 0 || object.tensor.alignment % width != 0)
    return misused("an alignment that is no multiple of the type's bytes");
  // Without gaps, in one of the two orders.
  std::vector<std::size_t> order(dims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto isDense = [&] {
    std::int64_t stride = 1;
    for (std::size_t d = order.size(); d-- > 0; stride *= dims[order[d]])
      if (strides[order[d]] != stride)
        return false;
    return true;
  };
  object.tensor.isChannelsLast = !isDense();
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return object.tensor.isChannelsLast && !isDense() ? misused("strides with gaps")
                                                    : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalizeWindow(BackendObject &object) {
  Window &made = object.window.window;
  made.padsBegin = object.values<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  made.padsEnd = object.values<std::int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  made.strides = object.values<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  made.dilations = object.values<std::int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
  const auto spatial =
      static_cast<std::size_t>(object.values<std::int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS)[0]);
  for (const Shape *each : {&made.padsBegin, &made.padsEnd, &made.strides, &made.dilations})
    if (each->size() != spatial)
      return misused("other than one value for each spatial dimension");
  if (object.values<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE)[0] !=
          CUDNN_CROSS_CORRELATION ||
      object.values<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE)[0] != CUDNN_DATA_FLOAT ||
      made.padsBegin != made.padsEnd)
    return misused("a convolution that the backend has not");
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalizePack(BackendObject &object) {
  auto ids = object.values<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const std::size_t count = ids.size();
  std::sort(ids.begin(), ids.end());
  const bool isUnique = std::adjacent_find(ids.begin(), ids.end()) == ids.end();
  return isUnique && object.values<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).size() == count
             ? CUDNN_STATUS_SUCCESS
             : misused("other than one address for each tensor");
}

cudnnStatus_t finalizeComplete(BackendObject &object) {
  switch (object.type) {
  case tensor:
    return finalizeTensor(object);
  case window:
    return finalizeWindow(object);
  case forward:
  case backwardData:
  case backwardFilter:
    return finalizeOperation(object);
  case sums:
    return finalizeSums(object);
  case graph:
    return finalizeGraph(object);
  case heuristics:
    return finalizeHeuristics(object);
  case plan:
    return finalizePlan(object);
  case pack:
    return finalizePack(object);
  default:
    return misused("a descriptor that only the library finalizes");
  }
}

/// What a descriptor tells, as bytes; descriptors are told apart from it.
template <typename T> BackendAttribute told(cudnnBackendAttributeType_t type, std::vector<T> all) {
  BackendAttribute made{type, static_cast<std::int64_t>(all.size()), {}};
  const auto *const begin = reinterpret_cast<const std::byte *>(all.data());
  made.bytes.assign(begin, begin + all.size() * sizeof(T));
  return made;
}

/// An attribute with values; nothing where the descriptor has no such attribute.
std::optional<BackendAttribute> read(const BackendObject &object,
                                     cudnnBackendAttributeName_t name) {
  const HostEngine *const engine = object.configuration.engine;
  if (object.type == plan && name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)
    return told<std::int64_t>(int64, {engine->workspace});
  if (object.type == CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR) {
    if (name == CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE)
      return told<cudnnBackendKnobType_t>(CUDNN_TYPE_KNOB_TYPE, {object.knob.first});
    if (name == CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE)
      return told<std::int64_t>(int64, {object.knob.second});
  }
  if (object.type != CUDNN_BACKEND_ENGINE_DESCRIPTOR)
    return std::nullopt;
  if (name == CUDNN_ATTR_ENGINE_GLOBAL_INDEX)
    return told<std::int64_t>(int64, {engine->index});
  if (name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE)
    return told(CUDNN_TYPE_NUMERICAL_NOTE, engine->notes);
  if (name == CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE)
    return told(CUDNN_TYPE_BEHAVIOR_NOTE,
                std::vector<cudnnBackendBehaviorNote_t>(engine->isCompiled ? 1 : 0,
                                                        CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION));
  return std::nullopt;
}

/// The descriptors that one tells, as those that are to be filled: nothing where it has none.
std::optional<std::vector<BackendObject>> readParts(const BackendObject &object,
                                                    cudnnBackendAttributeName_t name) {
  BackendObject made;
  made.isFinal = true;
  made.graph = object.graph;
  made.configuration = object.configuration;
  std::vector<BackendObject> parts;
  if (object.type == heuristics && name == CUDNN_ATTR_ENGINEHEUR_RESULTS) {
    made.type = CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
    for (const HostConfiguration &each : object.results) {
      made.configuration = each;
      parts.push_back(made);
    }
    return parts;
  }
  if (object.type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
    return std::nullopt;
  if (name == CUDNN_ATTR_ENGINECFG_ENGINE) {
    made.type = CUDNN_BACKEND_ENGINE_DESCRIPTOR;
    return std::vector{made};
  }
  if (name != CUDNN_ATTR_ENGINECFG_KNOB_CHOICES)
    return std::nullopt;
  made.type = CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR;
  for (const auto &knob : object.configuration.knobs) {
    made.knob = knob;
    parts.push_back(made);
  }
  return parts;
}

cudnnStatus_t fill(const std::vector<BackendObject> &parts, std::int64_t most, void *to) {
  for (std::size_t i = 0; i < parts.size() && i < static_cast<std::size_t>(most); ++i) {
    BackendObject *const target = backendObject(static_cast<cudnnBackendDescriptor_t *>(to)[i]);
    if (!target || target->type != parts[i].type || target->isFinal)
      return misused("a descriptor to be filled that is not there, not new, or of another type");
    *target = parts[i];
  }
  return CUDNN_STATUS_SUCCESS;
}

} // namespace

namespace syncline::hostcuda {

BackendObject *backendObject(cudnnBackendDescriptor_t handle) {
  const std::lock_guard guard(lock);
  const auto found = living.find(handle);
  return found == living.end() ? nullptr : found->second.get();
}

BackendObject *backendPart(const BackendObject &object, cudnnBackendAttributeName_t name,
                           cudnnBackendDescriptorType_t type) {
  const auto parts = object.values<cudnnBackendDescriptor_t>(name);
  return parts.size() == 1 ? backendPartOf(object, name, type) : nullptr;
}

BackendObject *backendPartOf(const BackendObject &object, cudnnBackendAttributeName_t name,
                             cudnnBackendDescriptorType_t type) {
  for (const cudnnBackendDescriptor_t handle : object.values<cudnnBackendDescriptor_t>(name))
    if (BackendObject *const part = backendObject(handle);
        part && part->type == type && part->isFinal)
      return part;
  return nullptr;
}

cudnnStatus_t misused(const std::string &reason) {
  lastError = reason;
  return CUDNN_STATUS_NOT_INITIALIZED;
}

} // namespace syncline::hostcuda

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t *made) {
  auto object = std::make_unique<BackendObject>();
  object->type = type;
  *made = object.get();
  const std::lock_guard guard(lock);
  living.emplace(*made, std::move(object));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t handle) {
  const std::lock_guard guard(lock);
  return living.erase(handle) == 1 ? CUDNN_STATUS_SUCCESS : misused("destroyed twice");
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t handle,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count,
                                       const void *values) {
  BackendObject *const object = backendObject(handle);
  if (!object || object->isFinal)
    return misused("an attribute of a descriptor that is finalized or not there");
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const AttributeRule &each) {
    return each.owner == object->type && each.name == name;
  });
  if (rule == rules.end() || rule->type != type || count < 1 || count > rule->most || !values)
    return misused("attribute " + std::to_string(name) + ": its name, type or number of values");
  const auto *const begin = static_cast<const std::byte *>(values);
  object->attributes[name] = {
      type, count, {begin, begin + static_cast<std::size_t>(count) * bytesOf(type)}};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(const cudnnBackendDescriptor_t handle,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t most,
                                       std::int64_t *count, void *values) {
  const BackendObject *const object = backendObject(handle);
  if (!object || !object->isFinal || most < 0 || (most > 0 && !values))
    return misused("an attribute read of a descriptor that is not finalized or not there");
  if (type == descriptor) {
    const auto parts = readParts(*object, name);
    if (!parts)
      return misused("attribute " + std::to_string(name) + " is read as descriptors");
    *count = static_cast<std::int64_t>(parts->size());
    return fill(*parts, most, values);
  }
  const std::optional<BackendAttribute> found = read(*object, name);
  if (!found || found->type != type)
    return misused("attribute " + std::to_string(name) + " is read by another name or type");
  *count = found->count; // all that there are, however many are written
  const auto written = static_cast<std::size_t>(std::min(most, found->count));
  if (written > 0)
    std::memcpy(values, found->bytes.data(), written * bytesOf(type));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t handle) {
  BackendObject *const object = backendObject(handle);
  if (!object || object->isFinal)
    return misused("finalizing a descriptor that is finalized or not there");
  for (const AttributeRule &rule : rules)
    if (rule.owner == object->type && !object->attributes.contains(rule.name))
      return misused("attribute " + std::to_string(rule.name) + " is missing");
  if (const cudnnStatus_t status = finalizeComplete(*object))
    return status;
  object->isFinal = true;
  return CUDNN_STATUS_SUCCESS;
}
