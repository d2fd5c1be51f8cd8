// The ways in which cuDNN can compute one convolution of the step, and the one that runs.
//
// Before they are timed the best is the first deterministic one in the order of cuDNN's heuristics.
// The heuristics do not guarantee that an engine runs; if it refuses, the next one is used.
#pragma once

#include "runtime/cuda/dnn/ConvolutionPlan.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace syncline::cuda {

/// Whether another engine or layout may do after this failure. cuDNN answers BAD_PARAM or an
/// internal error too where its heuristics name an engine that has no kernel for the shapes, or
/// where the library that holds the kernel is missing or cannot be compiled. Short memory and
/// failures of a device are none of these.
bool isRefusal(cudnnStatus_t status);

/// Whether `call` was refused; its text is then in `refusal`. Throws where it failed otherwise.
bool isRefused(cudnnStatus_t status, const char *call, std::string &refusal);

/// One way of cuDNN to compute a convolution.
struct ConvolutionEngine {
  /// Stands for this engine in later runs with this version of cuDNN on this device. Has no spaces.
  std::string name;
  bool isDeterministic = true;
  /// Whether it also makes the sums that a norm behind the convolution needs (ConvolutionSums.h).
  bool hasSums = false;
  /// Makes the engine ready and sets the bytes of workspace that it needs.
  std::function<cudnnStatus_t(std::size_t &bytes)> measure;
  /// Enqueues the convolution on the compute stream.
  std::function<cudnnStatus_t(void *workspace, std::size_t bytes)> run;
  std::optional<std::size_t> workspace; ///< what measure() has set
};

class ConvolutionEngines {
public:
  /// The most engines that are timed, of those that make sums and of the others.
  static constexpr std::size_t timedEngines = 8;

  /// `geometry` tells convolutions with unequal extents, or windows apart.
  ConvolutionEngines(Preparation &p, const Layout &layout, std::string geometry);

  /// Adds an engine behind those of its kind; deterministic ones stand before the others.
  void add(ConvolutionEngine engine);
  /// States what a norm behind the convolution does to find its statistics, by the engine's sums or
  /// without them. Engines are timed with it.
  void followBy(std::function<void(bool hasSums)> statistics);
  /// Whether an engine makes sums.
  bool offerSums() const;
  /// Removes engines until the first is ready and within the limit of workspace, which is then
  /// reserved. False where none is left; `refusal` then has cuDNN's last word, if it said one.
  bool settle(std::string &refusal);

  /// Enqueues the convolution by the first engine that is not refused, and keeps that engine.
  void run();

  /// Whether there is a choice between engines of equal determinism.
  bool hasChoice() const;
  /// Times the engines on the device and puts the fastest first. An engine is not timed where it
  /// is refused or where memory for its workspace is short. Waits for the device, and leaves
  /// anything in the results' memory.
  void time();
  /// Puts the engine of this name first, as it was timed before. False where cuDNN does not offer
  /// it or refuses it.
  bool prefer(const std::string &name, double seconds);

  const ConvolutionEngine &best() const { return engines.front(); }
  /// The best engine's measured time, with the norm's statistics; none before it is timed.
  std::optional<double> seconds() const { return measured; }
  /// The operation in the step, and the layout in which it is computed.
  std::size_t operation() const { return index; }
  const std::string &geometry() const { return extents; }
  std::string layoutText() const { return describe(layout); }
  /// The choice as text: "cudnn:1", or "cudnn:1 bf16 channels-last" with the layout, and the
  /// milliseconds where they were measured.
  std::string implementation() const;

private:
  /// Whether the engine is ready and within the limit of workspace.
  bool isReady(ConvolutionEngine &engine, std::string &refusal);
  /// Enqueues the engine. The status is a refusal where memory for its workspace is short.
  cudnnStatus_t enqueue(ConvolutionEngine &engine);
  /// Enqueues the engine and what follows it.
  cudnnStatus_t enqueueTimed(ConvolutionEngine &engine);
  std::optional<double> secondsOf(ConvolutionEngine &engine);
  void tell();

  Program &program;
  std::size_t index;
  Layout layout;
  std::string extents;
  std::vector<ConvolutionEngine> engines; ///< the best first
  std::function<void(bool hasSums)> statistics;
  std::optional<double> measured;
};

} // namespace syncline::cuda
