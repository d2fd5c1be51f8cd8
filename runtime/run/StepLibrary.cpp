// Loading step.so.
#include "runtime/run/StepLibrary.h"

#include "runtime/cpu/CpuBackend.h"

#include <dlfcn.h>
#include <filesystem>

namespace syncline {

Result<StepLibrary> StepLibrary::load(const Plan &plan, const ExecutableOptions &options) {
  // An absolute path: otherwise the loader would search its own folders.
  std::string path = std::filesystem::absolute(plan.file("step.so")).string();
  StepLibrary library;
  library.handle = std::shared_ptr<void>(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), [](void *h) {
    if (h)
      dlclose(h);
  });
  if (!library.handle)
    return Status::badInput("'" + path + "': cannot load: " + dlerror());
  auto abi = reinterpret_cast<int (*)()>(dlsym(library.handle.get(), "synclineStepAbi"));
  auto build =
      reinterpret_cast<void (*)(StepBuilder &)>(dlsym(library.handle.get(), "synclineBuildStep"));
  if (!abi || !build)
    return Status::badInput("'" + path + "': not a compiled step");
  if (abi() != stepAbi)
    return Status::badInput("'" + path + "': expected step interface " + std::to_string(stepAbi) +
                            ", got " + std::to_string(abi()) + "; compile the model again");
  Result<std::unique_ptr<Executable>> executable = cpu::createCpuExecutable(options);
  if (!executable)
    return executable.status();
  library.prepared = std::move(*executable);
  build(library.prepared->builder());
  if (Status s = library.prepared->finish(); !s)
    return s;
  return library;
}

} // namespace syncline
