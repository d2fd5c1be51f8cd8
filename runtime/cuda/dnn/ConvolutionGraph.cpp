// Describing a convolution as a graph, listing its engine configurations, and running their plans.
#include "runtime/cuda/dnn/ConvolutionGraph.h"

#include "runtime/cuda/dnn/BackendDescriptor.h"

#include <algorithm>
#include <array>
#include <set>

namespace syncline::cuda {

namespace {

/// The numbers by which graphs and variant packs name the tensors.
constexpr std::int64_t imageId = 1, filterId = 2, responseId = 3, sumsId = 4, squaresId = 5;

/// What divides the operands' addresses: tensors have offsets that are multiples of 64 in their
/// space, and scratch memory of 256. More than 16 make no difference to cuDNN.
constexpr std::int64_t alignment = 16;

/// A convolution's operation in cuDNN's terms.
struct OperationTerms {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t image, filter, response, convolution, alpha, beta;
  std::vector<std::int64_t> ids; ///< of ConvolutionPlaces: left, right, result, sums, squares
};

OperationTerms termsOf(ConvolutionKind kind) {
  switch (kind) {
  case ConvolutionKind::forwardAndSums: {
    OperationTerms terms = termsOf(ConvolutionKind::forward);
    terms.ids.insert(terms.ids.end(), {sumsId, squaresId});
    return terms;
  }
  case ConvolutionKind::forward:
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
            {imageId, filterId, responseId}};
  case ConvolutionKind::backwardData:
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
            {filterId, responseId, imageId}};
  case ConvolutionKind::backwardWeights:
    break;
  }
  return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
          {imageId, responseId, filterId}};
}

BackendDescriptor describe(const ConvolutionTensor &tensor, std::int64_t id) {
  const BackendDescriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
  made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, dnnType(tensor.layout));
  made.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment);
  made.set(CUDNN_ATTR_TENSOR_DIMENSIONS, tensor.dims);
  made.set(CUDNN_ATTR_TENSOR_STRIDES, stridesOf(tensor.layout, tensor.dims));
  made.finalize();
  return made;
}

BackendDescriptor describeWindow(const ConvolutionPlan &plan) {
  const BackendDescriptor made(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  made.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  made.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  made.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, static_cast<std::int64_t>(plan.pads.size()));
  made.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, plan.dilations);
  made.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, plan.strides);
  made.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, plan.pads);
  made.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, plan.pads);
  made.finalize();
  return made;
}

/// The sums of each channel of `response` and of its squares.
BackendDescriptor describeSums(const ConvolutionPlan &plan, const BackendDescriptor &response) {
  Shape channels(plan.response.dims.size(), 1);
  channels[1] = plan.response.dims[1];
  const ConvolutionTensor each{channels, {ElementType::f32, plan.layout.isChannelsLast}};
  const BackendDescriptor made(CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR);
  made.set(CUDNN_ATTR_OPERATION_GENSTATS_MODE, CUDNN_GENSTATS_SUM_SQSUM);
  made.set(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_DATA_FLOAT);
  made.set(CUDNN_ATTR_OPERATION_GENSTATS_XDESC, response);
  made.set(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, describe(each, sumsId));
  made.set(CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, describe(each, squaresId));
  made.finalize();
  return made;
}

/// The operation graph of the convolution, with its sums where there are ids for them. cuDNN finds
/// the number of groups by the channels.
BackendDescriptor describeGraph(cudnnHandle_t cudnn, const ConvolutionPlan &plan,
                                const OperationTerms &terms) {
  const BackendDescriptor response = describe(plan.response, responseId);
  const BackendDescriptor operation(terms.type);
  operation.set(terms.image, describe(plan.image, imageId));
  operation.set(terms.filter, describe(plan.filter, filterId));
  operation.set(terms.response, response);
  operation.set(terms.convolution, describeWindow(plan));
  operation.set(terms.alpha, 1.0F);
  operation.set(terms.beta, 0.0F);
  operation.finalize();
  std::vector<BackendDescriptor> operations{operation};
  if (std::ranges::find(terms.ids, sumsId) != terms.ids.end())
    operations.push_back(describeSums(plan, response));
  const BackendDescriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, cudnn);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations);
  graph.finalize();
  return graph;
}

/// The configurations that a mode of the heuristics lists, the fastest first.
std::vector<BackendDescriptor> configurations(const BackendDescriptor &graph,
                                              cudnnBackendHeurMode_t mode) {
  const BackendDescriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
  heuristics.finalize();
  return heuristics.parts(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
}

} // namespace

/// What a configuration's engine says of itself.
struct EngineNotes {
  explicit EngineNotes(const BackendDescriptor &configuration) {
    const std::vector<BackendDescriptor> engines =
        configuration.parts(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
    if (engines.empty())
      throw GraphFailure{CUDNN_STATUS_BAD_PARAM, "cudnnBackendGetAttribute"};
    const BackendDescriptor &engine = engines.front();
    name = "eng" + std::to_string(engine.value<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX));
    for (const BackendDescriptor &knob :
         configuration.parts(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                             CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS))
      name += "_k" +
              std::to_string(static_cast<int>(
                  knob.value<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE))) +
              "=" + std::to_string(knob.value<std::int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
    numerical = engine.list<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                         CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
    behavior = engine.list<cudnnBackendBehaviorNote_t>(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                                                       CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
  }

  bool has(cudnnBackendNumericalNote_t note) const {
    return std::find(numerical.begin(), numerical.end(), note) != numerical.end();
  }
  bool isCompiled() const {
    return std::find(behavior.begin(), behavior.end(), CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) !=
           behavior.end();
  }

  std::string name;
  std::vector<cudnnBackendNumericalNote_t> numerical;
  std::vector<cudnnBackendBehaviorNote_t> behavior;
};

/// One engine configuration with its execution plan, which equal convolutions share.
struct GraphPlan {
  GraphPlan(EngineNotes notes, BackendDescriptor configuration)
      : notes(std::move(notes)), configuration(std::move(configuration)) {}

  /// Makes the plan where there is none yet, and returns the bytes of workspace that it needs. A
  /// refusal is kept as well: it may have taken seconds to compile what the driver cannot load.
  std::size_t measure(cudnnHandle_t cudnn) {
    if (refused)
      throw *refused;
    try {
      if (!plan)
        plan = made(cudnn);
    } catch (const GraphFailure &failure) {
      refused = failure;
      throw;
    }
    const auto bytes = plan->value<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
    return static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0));
  }

  EngineNotes notes;
  BackendDescriptor configuration;
  std::optional<BackendDescriptor> plan = {};

private:
  BackendDescriptor made(cudnnHandle_t cudnn) const {
    const BackendDescriptor made(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    made.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, cudnn);
    made.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
    made.finalize();
    return made;
  }

  std::optional<GraphFailure> refused = {};
};

/// The configurations of equal convolutions, the fastest first.
struct GraphListing {
  std::vector<std::shared_ptr<GraphPlan>> plans;
  std::string refusal; ///< cuDNN's last one
};

namespace {

/// Whether the engine keeps the accuracy of the operands' type, and with `keepsBits` that of f32.
/// Fourier transforms round more than products do. Tensor units round f32 to TF32, and large tiles
/// of Winograd's lose bits of f32.
bool isExact(const EngineNotes &notes, bool keepsBits) {
  for (auto note : {CUDNN_NUMERICAL_NOTE_FFT, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS,
                    CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION})
    if (notes.has(note))
      return false;
  for (auto note :
       {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4,
        CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13})
    if (keepsBits && notes.has(note))
      return false;
  return true;
}

/// A convolution's use of a plan, with the variant pack of its operands' addresses.
class GraphEngine {
public:
  GraphEngine(cudnnHandle_t cudnn, std::shared_ptr<GraphPlan> shared, std::vector<std::int64_t> ids,
              std::shared_ptr<const ConvolutionPlaces> places)
      : cudnn(cudnn), shared(std::move(shared)), ids(std::move(ids)), places(std::move(places)) {}

  std::size_t measure() { return shared->measure(cudnn); }

  /// Precondition: measure() has returned.
  void run(void *workspace) {
    const std::byte *const left = places->left, *const right = places->right;
    const std::array<void *, 6> now{const_cast<std::byte *>(left),
                                    const_cast<std::byte *>(right),
                                    places->result,
                                    places->sums,
                                    places->squares,
                                    workspace};
    if (!pack || now != addresses) { // the workspace moves where it grows
      const BackendDescriptor made(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
      made.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span<const std::int64_t>(ids));
      made.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
               std::span<void *const>(now).first(ids.size()));
      made.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, workspace);
      made.finalize();
      pack = made;
      addresses = now;
    }
    checkGraph(cudnnBackendExecute(cudnn, shared->plan->handle(), pack->handle()),
               "cudnnBackendExecute");
  }

private:
  cudnnHandle_t cudnn;
  std::shared_ptr<GraphPlan> shared;
  std::vector<std::int64_t> ids; ///< of the first of the places
  std::shared_ptr<const ConvolutionPlaces> places;
  std::optional<BackendDescriptor> pack;
  std::array<void *, 6> addresses{}; ///< in `pack`, and the workspace
};

/// What `f` throws as a status.
template <typename F> cudnnStatus_t graphStatus(const F &f) {
  try {
    f();
  } catch (const GraphFailure &failure) {
    return failure.status;
  }
  return CUDNN_STATUS_SUCCESS;
}

/// Calls `f`. Where cuDNN refuses, its word is in `refusal`; another failure becomes a thrown
/// Failure, as everywhere in this folder.
template <typename F> void attempt(std::string &refusal, const F &f) {
  try {
    f();
  } catch (const GraphFailure &failure) {
    isRefused(failure.status, failure.call, refusal);
  }
}

/// Lists a convolution's configurations, the fastest first.
GraphListing listed(cudnnHandle_t cudnn, const ConvolutionPlan &plan, const OperationTerms &terms,
                    bool keepsBits) {
  GraphListing listing;
  std::set<std::string> names; // the two modes may list the same configuration
  const auto add = [&](const EngineNotes &notes, const BackendDescriptor &configuration) {
    if (names.insert(notes.name).second)
      listing.plans.push_back(std::make_shared<GraphPlan>(notes, configuration));
  };
  std::string &refusal = listing.refusal;
  attempt(refusal, [&] {
    const BackendDescriptor graph = describeGraph(cudnn, plan, terms);
    for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
      attempt(refusal, [&] {
        std::vector<std::pair<EngineNotes, BackendDescriptor>> compiled;
        for (const BackendDescriptor &configuration : configurations(graph, mode))
          attempt(refusal, [&] {
            const EngineNotes notes(configuration);
            if (isExact(notes, keepsBits) && notes.isCompiled())
              compiled.emplace_back(notes, configuration);
            else if (isExact(notes, keepsBits))
              add(notes, configuration);
          });
        // Compiling a kernel can take seconds for each convolution, before the first step. These
        // engines therefore wait until they are timed, or until the others have refused.
        for (const auto &[notes, configuration] : compiled)
          add(notes, configuration);
      });
  });
  return listing;
}

} // namespace

void addGraphEngines(ConvolutionEngines &engines, Preparation &p, const ConvolutionPlan &plan,
                     ConvolutionKind kind, std::shared_ptr<const ConvolutionPlaces> places,
                     std::string &refusal) {
  const cudnnHandle_t cudnn = p.program.device.cudnn;
  const OperationTerms terms = termsOf(kind);
  std::shared_ptr<GraphListing> &listing =
      p.program.graphListings[std::to_string(static_cast<int>(kind)) + " " + plan.geometry() + " " +
                              describe(plan.layout)];
  if (!listing)
    listing = std::make_shared<GraphListing>(
        listed(cudnn, plan, terms, p.program.options.precision == core::Precision::fp32));
  if (!listing->refusal.empty())
    refusal = listing->refusal;
  for (const std::shared_ptr<GraphPlan> &shared : listing->plans) {
    const auto own = std::make_shared<GraphEngine>(cudnn, shared, terms.ids, places);
    ConvolutionEngine engine;
    engine.hasSums = kind == ConvolutionKind::forwardAndSums;
    engine.name = (engine.hasSums ? "sums_" : "") + shared->notes.name;
    engine.isDeterministic = !shared->notes.has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
    engine.measure = [own](std::size_t &bytes) {
      return graphStatus([&] { bytes = own->measure(); });
    };
    engine.run = [own](void *workspace, std::size_t) {
      return graphStatus([&] { own->run(workspace); });
    };
    engines.add(std::move(engine));
  }
}

} // namespace syncline::cuda
