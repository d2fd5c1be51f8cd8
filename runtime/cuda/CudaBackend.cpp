// The module's one symbol: a Backend named "cuda".
#include "runtime/core/Backend.h"
#include "runtime/core/BackendModule.h"
#include "runtime/cuda/CudaExecutable.h"

namespace syncline::cuda {

namespace {

class CudaBackend final : public Backend {
public:
  std::string_view name() const override { return "cuda"; }
  Status available() const override { return cuda::available(); }
  int devices() const override { return deviceCount(); }

  Result<std::unique_ptr<Executable>>
  createExecutable(const ExecutableOptions &options) const override {
    if (Status usable = available(); !usable)
      return usable;
    std::unique_ptr<Executable> executable;
    const Status made =
        statusOf("", [&] { executable = std::make_unique<CudaExecutable>(options); });
    if (!made)
      return made;
    return executable;
  }
};

} // namespace

} // namespace syncline::cuda

extern "C" __attribute__((visibility("default"))) const syncline::Backend *
synclineBackend(int interface) {
  static const syncline::cuda::CudaBackend backend;
  return interface == syncline::backendInterface ? &backend : nullptr;
}
