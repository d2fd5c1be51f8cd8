// Graphs of one convolution, and of sums of its result, on the host: the engines that heuristics
// list, with notes, knobs and workspaces, and what happens when their plans are finalized and run.
// As with the older interface, the lists hold engines that must not be taken, and some that refuse.
#include "tests/host-cuda/HostConvolution.h"
#include "tests/host-cuda/HostGraph.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

using namespace syncline;
using namespace syncline::hostcuda;

namespace {

constexpr auto forward = CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
constexpr auto backwardData = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR;

constexpr auto tensorCore = CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
constexpr auto largeTiles = CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4;

const HostEngine fourier{0, EngineRole::forbidden, 0, {CUDNN_NUMERICAL_NOTE_FFT}};
const HostEngine converting{
    1, EngineRole::forbidden, 0, {tensorCore, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS}};
const HostEngine reduced{
    2, EngineRole::forbidden, 0, {tensorCore, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION}};
const HostEngine changing{3, EngineRole::forbidden, 0, {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}};
const HostEngine large{4, EngineRole::large, std::int64_t{1} << 40, {}};
const HostEngine unbuilt{5, EngineRole::unbuilt, 0, {}};
const HostEngine unrunnable{6, EngineRole::unrunnable, 0, {tensorCore}};
const HostEngine good{7, EngineRole::slow, 1000, {tensorCore}};
const HostEngine compiled{8, EngineRole::slow, 2000, {tensorCore}, true};
const HostEngine quick{9, EngineRole::quick, 5000, {tensorCore}};
const HostEngine winograd{10, EngineRole::slow, 0, {CUDNN_NUMERICAL_NOTE_WINOGRAD, largeTiles}};
const HostEngine exact{11, EngineRole::slow, 1000, {}};
const HostEngine unrunnableExact{12, EngineRole::unrunnable, 0, {}};
const HostEngine last{13, EngineRole::slow, 0, {}};

// Engines of convolutions with sums have numbers of their own. All are compiled.
const HostEngine unbuiltSums{1, EngineRole::unbuilt, 0, {tensorCore}, true};
const HostEngine changingSums{
    2, EngineRole::forbidden, 0, {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, true};
const HostEngine unrunnableSums{3, EngineRole::unrunnable, 0, {tensorCore}, true};
const HostEngine slowSums{4, EngineRole::slow, 3000, {tensorCore}, true};
const HostEngine quickSums{5, EngineRole::quick, 4000, {tensorCore}, true};

const Knobs firstKnobs{{CUDNN_KNOB_TYPE_TILE_SIZE, 3}, {CUDNN_KNOB_TYPE_TILEK, 1}};
const Knobs otherKnobs{{CUDNN_KNOB_TYPE_TILE_SIZE, 5}, {CUDNN_KNOB_TYPE_TILEK, 1}};

/// What mode A lists, and what the fallback's list has: a configuration of the former once more,
/// and an engine without knobs.
const std::vector<HostConfiguration> listed{
    {&fourier, {}},         {&converting, {}}, {&reduced, {}},      {&changing, {}},
    {&compiled, {}},        {&unbuilt, {}},    {&large, {}},        {&unrunnable, {}},
    {&good, firstKnobs},    {&winograd, {}},   {&good, otherKnobs}, {&quick, {}},
    {&unrunnableExact, {}}, {&exact, {}}};
const std::vector<HostConfiguration> fallback{{&good, firstKnobs}, {&last, {}}};

const std::vector<HostConfiguration> listedSums{{&unbuiltSums, {}},
                                                {&changingSums, {}},
                                                {&unrunnableSums, {}},
                                                {&slowSums, firstKnobs},
                                                {&quickSums, {}}};
const std::vector<HostConfiguration> fallbackSums{{&slowSums, firstKnobs}};

/// The tensors and the convolution of an operation, by the names of its attributes.
struct OperationNames {
  cudnnBackendAttributeName_t x, w, y, window, alpha, beta;
};

OperationNames namesOf(cudnnBackendDescriptorType_t kind) {
  if (kind == forward)
    return {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
  if (kind == backwardData)
    return {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
  return {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
}

/// Whether a test's library accepts an engine for these operands.
bool isAcceptable(const HostEngine &engine, const GraphConvolution &graph) {
  if (!accepted)
    return true;
  const bool isRounded = graph.x.type == CUDNN_DATA_BFLOAT16;
  const bool keepsBits = !engine.has(tensorCore) && !engine.has(largeTiles);
  return isRounded == (accepted == core::Precision::bf16) &&
         (isRounded || keepsBits == (accepted == core::Precision::fp32));
}

/// The address of each tensor in the pack; empty where one is missing, in no memory of the device,
/// or not aligned as it was promised.
std::vector<void *> addressesOf(const GraphConvolution &graph, const BackendObject &pack) {
  const auto ids = pack.values<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto data = pack.values<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  std::vector<const GraphTensor *> tensors{&graph.x, &graph.w, &graph.y};
  if (graph.sums)
    tensors.insert(tensors.end(), {&graph.sums->sums, &graph.sums->squares});
  if (ids.size() != tensors.size())
    return {};
  std::vector<void *> found;
  for (const GraphTensor *tensor : tensors) {
    const auto at = std::find(ids.begin(), ids.end(), tensor->id);
    if (at == ids.end())
      return {};
    void *const address = data[static_cast<std::size_t>(at - ids.begin())];
    const std::int64_t bytes =
        core::elementCount(tensor->dims) * (tensor->type == CUDNN_DATA_BFLOAT16 ? 2 : 4);
    if (reinterpret_cast<std::uintptr_t>(address) %
                static_cast<std::uintptr_t>(tensor->alignment) !=
            0 ||
        !isAllocated(address, static_cast<std::size_t>(bytes)))
      return {};
    found.push_back(address);
  }
  return found;
}

/// Adds up each channel of y and its squares in f32, 128 elements at a time.
void addUp(const GraphTensor &y, const void *data, float *sums, float *squares) {
  const Planes planes(y.dims);
  const std::vector<float> values = Elements(y).load(data);
  for (std::int64_t c = 0; c < planes.channels; ++c) {
    float all[2] = {}, part[2] = {};
    std::int64_t count = 0;
    for (std::int64_t o = 0; o < planes.outer; ++o)
      for (std::int64_t i = 0; i < planes.inner; ++i) {
        const float value = values[static_cast<std::size_t>(planes.at(o, c, i))];
        part[0] += value;
        part[1] += value * value;
        if (++count % 128 != 0 && count != planes.outer * planes.inner)
          continue;
        for (int k = 0; k < 2; ++k)
          all[k] += std::exchange(part[k], 0.0F);
      }
    sums[c] = all[0];
    squares[c] = all[1];
  }
}

/// Computes the graph's convolution, and its sums.
void compute(const GraphConvolution &graph, const std::vector<void *> &data) {
  const Elements x(graph.x), w(graph.w), y(graph.y);
  const ConvolutionExtents e(graph.window.window, graph.x.dims, graph.w.dims, graph.y.dims);
  std::vector<float> result;
  if (graph.kind == forward) {
    convolve(e, x.load(data[0]), w.load(data[1]), result = y.zeros());
    y.store(result, data[2]);
    if (graph.sums)
      addUp(graph.y, data[2], floats(data[3]), floats(data[4]));
  } else if (graph.kind == backwardData) {
    convolveBackwardData(e, w.load(data[1]), y.load(data[2]), result = x.zeros());
    x.store(result, data[0]);
  } else {
    convolveBackwardFilter(e, x.load(data[0]), y.load(data[2]), result = w.zeros());
    w.store(result, data[1]);
  }
}

} // namespace

namespace syncline::hostcuda {

bool HostEngine::has(cudnnBackendNumericalNote_t note) const {
  return std::find(notes.begin(), notes.end(), note) != notes.end();
}

cudnnStatus_t finalizeOperation(BackendObject &operation) {
  const OperationNames names = namesOf(operation.type);
  const BackendObject *const x = backendPart(operation, names.x, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const BackendObject *const w = backendPart(operation, names.w, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const BackendObject *const y = backendPart(operation, names.y, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const BackendObject *const window =
      backendPart(operation, names.window, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  if (!x || !w || !y || !window)
    return misused("an operation's tensor or convolution that is not finalized or gone");
  if (operation.values<float>(names.alpha)[0] != 1 || operation.values<float>(names.beta)[0] != 0)
    return misused("factors that the backend has not");
  auto made = std::make_shared<GraphConvolution>(
      GraphConvolution{operation.type, x->tensor, w->tensor, y->tensor, window->window});
  Window &of = made->window.window;
  of.groups = w->tensor.dims[1] > 0 ? x->tensor.dims[1] / w->tensor.dims[1] : 0;
  if (resultOf(made->window, made->x.dims, made->w.dims) != made->y.dims)
    return misused("extents that do not fit each other");
  if (made->x.id == made->w.id || made->x.id == made->y.id || made->w.id == made->y.id)
    return misused("two tensors with one number");
  operation.graph = made;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalizeSums(BackendObject &operation) {
  constexpr auto tensor = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
  const BackendObject *const x =
      backendPart(operation, CUDNN_ATTR_OPERATION_GENSTATS_XDESC, tensor);
  const BackendObject *const sums =
      backendPart(operation, CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, tensor);
  const BackendObject *const squares =
      backendPart(operation, CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, tensor);
  if (!x || !sums || !squares)
    return misused("a tensor of sums that is not finalized or gone");
  Shape channels(x->tensor.dims.size(), 1);
  channels[1] = x->tensor.dims[1];
  for (const GraphTensor *each : {&sums->tensor, &squares->tensor})
    if (each->dims != channels || each->type != CUDNN_DATA_FLOAT)
      return misused("other than one f32 for each channel");
  const auto number = [](const BackendObject *of) { return of->tensor.id; };
  if (std::set{number(x), number(sums), number(squares)}.size() != 3)
    return misused("two tensors with one number");
  if (operation.values<cudnnGenStatsMode_t>(CUDNN_ATTR_OPERATION_GENSTATS_MODE)[0] !=
          CUDNN_GENSTATS_SUM_SQSUM ||
      operation.values<cudnnDataType_t>(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC)[0] !=
          CUDNN_DATA_FLOAT)
    return misused("sums that the backend has not");
  operation.sums = {number(x), sums->tensor, squares->tensor};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalizeGraph(BackendObject &graph) {
  const auto operations =
      graph.values<cudnnBackendDescriptor_t>(CUDNN_ATTR_OPERATIONGRAPH_OPS).size();
  const BackendObject *operation = nullptr;
  for (auto kind :
       {forward, backwardData, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR})
    if (!operation)
      operation = backendPartOf(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, kind);
  const BackendObject *const sums = backendPartOf(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS,
                                                  CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR);
  const auto handle = graph.values<cudnnHandle_t>(CUDNN_ATTR_OPERATIONGRAPH_HANDLE)[0];
  if (!operation || (operations > 1 && !sums) || !isReady(handle))
    return misused("a graph's operation that is not finalized or gone, or its handle");
  auto made = std::make_shared<GraphConvolution>(*operation->graph);
  made->handle = handle;
  if (sums) {
    made->sums = sums->sums;
    if (made->kind != forward || sums->sums.of != made->y.id)
      return misused("sums of another tensor than the convolution's result");
  }
  if (made->x.type != made->w.type || made->x.type != made->y.type ||
      !haveOneOrder(made->x, made->w, made->y))
    return misused("types or orders that the backend has not");
  graph.graph = made;
  const Shape &dilations = made->window.window.dilations;
  const bool isDilated = *std::max_element(dilations.begin(), dilations.end()) > 1;
  if (!hasGraphs)
    return made->kind == forward ? CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE
                                 : CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED;
  const bool canAddUp = made->x.type == CUDNN_DATA_BFLOAT16 && made->window.window.groups == 1;
  if (isDilated || !hasKernel(dilations, made->x, made->w) || (made->sums && !canAddUp))
    return CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalizeHeuristics(BackendObject &heuristics) {
  const BackendObject *const graph = backendPart(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                                                 CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (!graph)
    return misused("heuristics of a graph that is not finalized or gone");
  heuristics.graph = graph->graph;
  switch (heuristics.values<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE)[0]) {
  case CUDNN_HEUR_MODE_A:
    if (graph->graph->window.window.groups > 1) // so that the fallback's engines run too
      return CUDNN_STATUS_NOT_SUPPORTED;
    heuristics.results = graph->graph->sums ? listedSums : listed;
    return CUDNN_STATUS_SUCCESS;
  case CUDNN_HEUR_MODE_FALLBACK:
    heuristics.results = graph->graph->sums ? fallbackSums : fallback;
    return CUDNN_STATUS_SUCCESS;
  default:
    return misused("a mode that the backend has not");
  }
}

cudnnStatus_t finalizePlan(BackendObject &plan) {
  const BackendObject *const chosen = backendPart(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                                  CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  if (!chosen ||
      plan.values<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE)[0] != chosen->graph->handle)
    return misused("a plan's configuration that is gone, or another handle");
  const HostEngine &engine = *chosen->configuration.engine;
  plan.graph = chosen->graph;
  plan.configuration = chosen->configuration;
  plan.life = std::make_shared<int>();
  ++triedPlans;
  switch (engine.role) {
  case EngineRole::forbidden:
    return misused("an engine whose notes forbid it");
  case EngineRole::unbuilt: // in several words, as they occur; the first is a driver too old
    return plan.graph->kind == forward        ? CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER
           : plan.graph->kind == backwardData ? CUDNN_STATUS_BAD_PARAM
                                              : CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED;
  case EngineRole::large:
    return CUDNN_STATUS_SUCCESS;
  case EngineRole::unrunnable:
  case EngineRole::slow:
  case EngineRole::quick:
    return isAcceptable(engine, *plan.graph) ? CUDNN_STATUS_SUCCESS
                                             : misused("an engine of another precision");
  }
  return CUDNN_STATUS_INTERNAL_ERROR;
}

} // namespace syncline::hostcuda

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t planHandle,
                                  cudnnBackendDescriptor_t packHandle) {
  const BackendObject *const plan = backendObject(planHandle), *const pack =
                                                                   backendObject(packHandle);
  if (!plan || !plan->isFinal || plan->type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR || !pack ||
      !pack->isFinal || pack->type != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
    return misused("a plan or a variant pack that is not finalized or gone");
  const GraphConvolution &graph = *plan->graph;
  const HostEngine &engine = *plan->configuration.engine;
  if (!isReady(handle) || handle != graph.handle)
    return misused("another handle, or one without a stream");
  const std::vector<void *> data = addressesOf(graph, *pack);
  void *const workspace = pack->values<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE)[0];
  const auto bytes = static_cast<std::size_t>(engine.workspace);
  if (data.empty() || (bytes > 0 && !isAllocated(workspace, bytes)))
    return misused("a tensor's address or the workspace");
  if (engine.role == EngineRole::unrunnable)
    return graph.kind == forward        ? CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH
           : graph.kind == backwardData ? CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED
                                        : CUDNN_STATUS_INTERNAL_ERROR;
  return enqueue(handle, [=, copy = graph, isSlow = engine.role != EngineRole::quick,
                          life = std::weak_ptr<int>(plan->life)] {
    if (life.expired()) // a captured work, whose plan has kernels of its own
      return breakDevice(cudaErrorIllegalInstruction, "a plan that was destroyed");
    work(isSlow, workspace, bytes);
    compute(copy, data);
  });
}
