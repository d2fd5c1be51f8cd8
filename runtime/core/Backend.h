// A compute backend: makes Executables. The CPU's is linked in; others are modules, which
// BackendModule.h loads.
#pragma once

#include "runtime/core/Executable.h"

#include <memory>
#include <string_view>

namespace syncline {

class Backend {
public:
  virtual ~Backend() = default;

  /// As plans and command lines spell it: "cpu", "cuda".
  virtual std::string_view name() const = 0;
  /// Whether this machine can run it: badInput that says what is missing, such as a driver.
  virtual Status available() const = 0;
  /// Allocates the spaces (zeroed) and gives an executable ready to be built. Errors: badInput when
  /// the device or the memory is not there.
  virtual Result<std::unique_ptr<Executable>>
  createExecutable(const ExecutableOptions &options) const = 0;
};

} // namespace syncline
