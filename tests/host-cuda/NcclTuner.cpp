// Loading and asking the tuner plugin.
#include "tests/host-cuda/NcclTuner.h"

#include "runtime/cuda/tuner/Interface.h"
#include "tests/host-cuda/Stream.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>

namespace syncline::hostcuda {

namespace {

constexpr int algorithms = 7, protocols = 3, treeNumber = 0;
constexpr std::size_t longestPath = 254; ///< NCCL's MAX_STR_LEN without the end

/// What the plugin logged last, of the calling thread.
thread_local std::string logged;

void note(int, unsigned long, const char *, int, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  logged = text;
}

} // namespace

/// The plugin's file. It is unloaded with the last communicator.
struct NcclTuner::Module {
  explicit Module(void *handle)
      : handle(handle),
        tuner(static_cast<const SynclineNcclTunerV5 *>(dlsym(handle, "ncclTunerPlugin_v5"))) {}
  ~Module() { dlclose(handle); }
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  void *handle;
  const SynclineNcclTunerV5 *tuner;
};

std::unique_ptr<NcclTuner> NcclTuner::load(std::size_t ranks) {
  static std::mutex mutex;
  static std::weak_ptr<Module> loaded;
  std::lock_guard hold(mutex);
  std::shared_ptr<Module> module = loaded.lock();
  if (const char *named = std::getenv("NCCL_TUNER_PLUGIN"); !module && named) {
    const std::string path = std::string(named).substr(0, longestPath);
    if (void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      loaded = module = std::make_shared<Module>(handle);
  }
  if (!module || !module->tuner)
    return nullptr;
  std::unique_ptr<NcclTuner> made(new NcclTuner(module));
  if (module->tuner->init(&made->context, 0, ranks, 1, note, nullptr, nullptr) !=
      synclineNcclSuccess)
    throw std::runtime_error(logged);
  return made;
}

NcclTuner::~NcclTuner() {
  if (context)
    module->tuner->finalize(context);
}

std::uint64_t nvlsGain() { return setting("SYNCLINE_HOST_NCCL_NVLS", 0); }

int ownChoice(int collective) {
  return collective == allReduceNumber && nvlsGain() > 0 ? nvlsNumber : ringNumber;
}

/// NCCL offers tree, ring and what it would take itself; SYNCLINE_HOST_NCCL_TREE=0 says that there
/// is no tree.
int NcclTuner::ask(int collective, std::size_t bytes) {
  float costs[algorithms][protocols];
  for (int algorithm = 0; algorithm < algorithms; ++algorithm)
    for (float &cost : costs[algorithm]) {
      const bool isTree = algorithm == treeNumber && setting("SYNCLINE_HOST_NCCL_TREE", 1) != 0;
      cost = algorithm == ownChoice(collective)  ? 0.5F
             : isTree || algorithm == ringNumber ? 1.0F
                                                 : -1.0F;
    }
  int channels = 0;
  module->tuner->choose(context, collective, bytes, 1, reinterpret_cast<float **>(costs),
                        algorithms, protocols, 0, &channels);
  int taken = ringNumber;
  float least = std::numeric_limits<float>::infinity();
  for (int algorithm = 0; algorithm < algorithms; ++algorithm)
    for (const float cost : costs[algorithm])
      if (cost >= 0 && cost < least) {
        least = cost;
        taken = algorithm;
      }
  return taken;
}

} // namespace syncline::hostcuda
