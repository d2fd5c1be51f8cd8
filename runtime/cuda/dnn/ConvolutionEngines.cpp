// Running and timing the engines of one convolution.
#include "runtime/cuda/dnn/ConvolutionEngines.h"

#include "runtime/core/Formatted.h"
#include "runtime/core/Statistics.h"
#include "runtime/cuda/Event.h"

#include <algorithm>
#include <utility>

namespace syncline::cuda {

namespace {

/// Times that an engine is timed. The median leaves out what another process or a clock's change
/// does to one of them.
constexpr int repetitions = 5;

/// What a workspace that does not fit is called: as an engine that cuDNN refuses.
constexpr cudnnStatus_t noWorkspace = CUDNN_STATUS_NOT_SUPPORTED;

} // namespace

bool isRefusal(cudnnStatus_t status) {
  switch (status) {
  case CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED:
  case CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED:
    return false;
  case CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED:
    return true;
  default:
    return status >= CUDNN_STATUS_BAD_PARAM && status < CUDNN_STATUS_EXECUTION_FAILED;
  }
}

bool isRefused(cudnnStatus_t status, const char *call, std::string &refusal) {
  if (isRefusal(status))
    refusal = std::string(call) + ": " + cudnnGetErrorString(status);
  else
    check(status, call);
  return isRefusal(status);
}

ConvolutionEngines::ConvolutionEngines(Preparation &p, const Layout &layout, std::string geometry)
    : program(p.program), index(p.program.table.operations.size() - 1), layout(layout),
      extents(std::move(geometry)) {}

void ConvolutionEngines::add(ConvolutionEngine engine) {
  auto at = engines.end();
  if (engine.isDeterministic)
    at = std::find_if(engines.begin(), engines.end(),
                      [](const ConvolutionEngine &e) { return !e.isDeterministic; });
  engines.insert(at, std::move(engine));
}

void ConvolutionEngines::followBy(std::function<void(bool hasSums)> follower) {
  if (!statistics)
    extents += " with sums"; // others of this geometry have other times
  statistics = std::move(follower);
}

bool ConvolutionEngines::offerSums() const {
  return std::ranges::any_of(engines, &ConvolutionEngine::hasSums);
}

bool ConvolutionEngines::isReady(ConvolutionEngine &engine, std::string &refusal) {
  if (engine.workspace)
    return true;
  std::size_t bytes = 0;
  cudnnStatus_t status = engine.measure(bytes);
  // No kernel runs here. What fails is the driver, which cannot load the one that was compiled.
  if (status >= CUDNN_STATUS_EXECUTION_FAILED)
    status = CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER;
  if (isRefused(status, "the engine's workspace", refusal) ||
      bytes > static_cast<std::size_t>(workspaceLimit))
    return false;
  engine.workspace = bytes;
  return true;
}

bool ConvolutionEngines::settle(std::string &refusal) {
  while (!engines.empty() && !isReady(engines.front(), refusal))
    engines.erase(engines.begin());
  if (!engines.empty())
    program.expectWorkspace(static_cast<std::int64_t>(*engines.front().workspace));
  return !engines.empty();
}

cudnnStatus_t ConvolutionEngines::enqueue(ConvolutionEngine &engine) {
  const std::size_t bytes = *engine.workspace;
  if (!program.growWorkspace(static_cast<std::int64_t>(bytes)))
    return noWorkspace;
  return engine.run(program.workspace.data(), bytes);
}

cudnnStatus_t ConvolutionEngines::enqueueTimed(ConvolutionEngine &engine) {
  const cudnnStatus_t status = enqueue(engine);
  if (status == CUDNN_STATUS_SUCCESS && statistics)
    statistics(engine.hasSums);
  return status;
}

void ConvolutionEngines::run() {
  std::string ignored;
  cudnnStatus_t status = enqueue(engines.front());
  while (isRefusal(status) && engines.size() > 1) {
    engines.erase(engines.begin());
    measured.reset();
    if (isReady(engines.front(), ignored))
      status = enqueue(engines.front());
    tell();
  }
  check(status, "the convolution");
}

bool ConvolutionEngines::hasChoice() const {
  return engines.size() > 1 && engines[0].isDeterministic == engines[1].isDeterministic;
}

/// The engine's median time; none where it is refused.
std::optional<double> ConvolutionEngines::secondsOf(ConvolutionEngine &engine) {
  std::string ignored;
  // The first call also loads or compiles the kernel.
  if (!isReady(engine, ignored) || isRefused(enqueueTimed(engine), "the convolution", ignored))
    return std::nullopt;
  const cudaStream_t stream = program.device.compute;
  std::vector<Event> events;
  for (int i = 0; i <= repetitions; ++i)
    events.emplace_back(EventUse::time);
  events[0].record(stream);
  for (int i = 0; i < repetitions; ++i) {
    check(enqueueTimed(engine), "the convolution");
    events[static_cast<std::size_t>(i) + 1].record(stream);
  }
  SYNCLINE_CHECK(cudaStreamSynchronize(stream));
  std::vector<double> all;
  for (std::size_t i = 1; i < events.size(); ++i)
    all.push_back(secondsBetween(events[i - 1], events[i]));
  return core::median(std::move(all));
}

void ConvolutionEngines::time() {
  std::vector<std::pair<double, ConvolutionEngine>> timed;
  std::vector<ConvolutionEngine> others;
  const auto isEnough = [&](bool hasSums) {
    return static_cast<std::size_t>(std::ranges::count_if(timed, [&](const auto &each) {
             return each.second.hasSums == hasSums;
           })) == timedEngines;
  };
  for (ConvolutionEngine &engine : engines) {
    const bool isRival = engine.isDeterministic == engines.front().isDeterministic;
    if (!isRival || isEnough(engine.hasSums))
      others.push_back(std::move(engine));
    else if (const std::optional<double> seconds = secondsOf(engine))
      timed.emplace_back(*seconds, engine); // a copy: the first engine is compared with the others
  }
  if (timed.empty()) { // run() tries what is left, and says what cuDNN said
    if (!others.empty())
      engines = std::move(others);
    return;
  }
  std::stable_sort(timed.begin(), timed.end(),
                   [](const auto &a, const auto &b) { return a.first < b.first; });
  measured = timed.front().first;
  engines.clear();
  for (auto &[seconds, engine] : timed)
    engines.push_back(std::move(engine));
  std::move(others.begin(), others.end(), std::back_inserter(engines));
  tell();
}

bool ConvolutionEngines::prefer(const std::string &name, double seconds) {
  const auto named = std::find_if(engines.begin(), engines.end(),
                                  [&](const ConvolutionEngine &e) { return e.name == name; });
  std::string ignored;
  if (named == engines.end() || !isReady(*named, ignored) ||
      !program.growWorkspace(static_cast<std::int64_t>(*named->workspace)))
    return false;
  std::rotate(engines.begin(), named, named + 1);
  measured = seconds;
  tell();
  return true;
}

std::string ConvolutionEngines::implementation() const {
  std::string text = "cudnn:" + best().name;
  if (layout != Layout{})
    text += " " + describe(layout);
  return measured ? text + core::formatted(" (%.3f ms)", *measured * 1e3) : text;
}

void ConvolutionEngines::tell() {
  program.table.operations[index].implementation = implementation();
}

} // namespace syncline::cuda
