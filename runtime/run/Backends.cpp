// The CPU backend of this program, and modules for the others.
#include "runtime/run/Backends.h"

#include "runtime/core/BackendModule.h"
#include "runtime/cpu/CpuBackend.h"

namespace syncline::run {
namespace {

class CpuBackend final : public core::Backend {
public:
  std::string_view name() const override { return "cpu"; }
  Status available() const override { return Status::ok(); }
  std::string description() const override { return "oneDNN " SYNCLINE_ONEDNN; }
  bool hasPrecision(core::Precision precision) const override {
    return cpu::hasPrecision(precision);
  }
  Result<std::unique_ptr<core::Executable>>
  createExecutable(const core::ExecutableOptions &options) const override {
    return cpu::createCpuExecutable(options);
  }
};

} // namespace

Result<const core::Backend *> openBackend(const std::string &name) {
  static const CpuBackend cpu;
  if (name == cpu.name())
    return static_cast<const core::Backend *>(&cpu);
  SYNCLINE_TRY_GET(loaded, core::loadBackend(core::backendModulePath(name)));
  if (Status usable = (*loaded)->available(); !usable)
    return Status::badInput("backend '" + name + "': " + usable.message());
  return loaded;
}

Result<int> chooseDevice(const DeviceWish &wish, int count, const std::string &backend) {
  if (count == 0)
    return 0;
  const int own = wish.shares ? wish.machineRank % count : wish.machineRank;
  const int wanted = wish.device.value_or(own);
  if (wanted >= 0 && wanted < count)
    return wanted;
  const std::string has =
      "this machine shows " + std::to_string(count) + " of backend '" + backend + "'";
  if (wish.device)
    return Status::badInput("no device " + std::to_string(wanted) + ": " + has);
  return Status::badInput("local rank " + std::to_string(wish.machineRank) +
                          " has no device of its own: " + has +
                          "; '--share-device' lets ranks share them");
}

} // namespace syncline::run
