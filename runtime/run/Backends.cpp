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
  Result<const core::Backend *> loaded = core::loadBackend(core::backendModulePath(name));
  if (!loaded)
    return loaded;
  if (Status usable = (*loaded)->available(); !usable)
    return Status::badInput("backend '" + name + "': " + usable.message());
  return loaded;
}

} // namespace syncline::run
