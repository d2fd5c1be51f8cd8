// NCCL's tuner plugin on the host: found by NCCL_TUNER_PLUGIN, loaded while a communicator exists,
// and asked for each collective.
#pragma once

#include <cstddef>
#include <memory>

namespace syncline::hostcuda {

/// One communicator's tuner.
class NcclTuner {
public:
  /// Null where no plugin is named or it does not load, of which NCCL only tells those who ask for
  /// its log. Throws std::runtime_error with the plugin's warning where the plugin refuses.
  static std::unique_ptr<NcclTuner> load(std::size_t ranks);
  ~NcclTuner();
  NcclTuner(const NcclTuner &) = delete;
  NcclTuner &operator=(const NcclTuner &) = delete;

  /// Asks about a collective of `bytes` bytes, as NCCL counts them.
  void ask(int collective, std::size_t bytes);

private:
  struct Module;
  explicit NcclTuner(std::shared_ptr<Module> module) : module(std::move(module)) {}

  std::shared_ptr<Module> module;
  void *context = nullptr;
};

} // namespace syncline::hostcuda
