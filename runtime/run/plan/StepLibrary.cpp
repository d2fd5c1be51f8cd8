// Loading step.so.
#include "runtime/run/plan/StepLibrary.h"

#include <dlfcn.h>
#include <filesystem>

namespace syncline::run {

/// The types of the functions that step.so exports.
using StepAbi = int();
using StepBackend = const char *();
using BuildStep = void(StepBuilder &);

template <typename Function> static Function *symbol(void *library, const char *name) {
  return reinterpret_cast<Function *>(dlsym(library, name));
}

/// The building function of a library that is a step of this version for this backend.
static Result<BuildStep *> checkedEntry(void *library, const Plan &plan, const std::string &path,
                                        const std::string &backend) {
  auto abi = symbol<StepAbi>(library, "synclineStepAbi");
  if (abi && abi() != stepAbi) // another version may lack the other functions
    return Status::badInput("'" + path + "': expected step interface " + std::to_string(stepAbi) +
                            ", got " + std::to_string(abi()) + compileAgain(plan.folder));
  auto compiledFor = symbol<StepBackend>(library, "synclineStepBackend");
  auto build = symbol<BuildStep>(library, "synclineBuildStep");
  if (!abi || !compiledFor || !build)
    return Status::badInput("'" + path + "': not a compiled step");
  if (backend != compiledFor())
    return Status::badInput("'" + path + "': expected a step for backend '" + backend +
                            "', got one for '" + compiledFor() + "'");
  return build;
}

Result<StepLibrary> StepLibrary::load(const Plan &plan, const core::Backend &backend,
                                      const core::ExecutableOptions &options) {
  // An absolute path: otherwise the loader would search its own folders.
  std::string path = std::filesystem::absolute(plan.file("step.so")).string();
  StepLibrary library;
  library.handle = std::shared_ptr<void>(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), [](void *h) {
    if (h)
      dlclose(h);
  });
  if (!library.handle)
    return Status::badInput("'" + path + "': cannot load: " + dlerror());
  SYNCLINE_TRY_GET(build,
                   checkedEntry(library.handle.get(), plan, path, std::string(backend.name())));
  SYNCLINE_TRY_GET(executable, backend.createExecutable(options));
  library.prepared = std::move(*executable);
  (*build)(library.prepared->builder());
  SYNCLINE_TRY(library.prepared->finish());
  return library;
}

} // namespace syncline::run
