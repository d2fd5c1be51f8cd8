// Finding a module's file and opening it.
#include "runtime/core/BackendModule.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace fs = std::filesystem;

namespace syncline::core {

Result<std::unique_ptr<Channel>> Backend::openChannel(Executable &, Peers &,
                                                      const ChannelOptions &) const {
  return Status::error(ErrorKind::internal,
                       "backend '" + std::string(name()) + "' has no channels of its own");
}

Result<KernelChoice> Backend::chooseKernels(Executable &, const std::string &table, bool) const {
  KernelChoice none;
  none.table = table;
  return none;
}

std::string backendModulePath(std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (const char *named = std::getenv(("SYNCLINE_" + upper + "_BACKEND").c_str()); named && *named)
    return named;
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  return program.parent_path().parent_path() / "lib" / ("libsyncline-" + std::string(name) + ".so");
}

Result<const Backend *> loadBackend(const std::string &path) {
  const std::string what = "'" + path + "': ";
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    return Status::badInput(what + "no such backend; build with its toolkit installed");
  // An absolute path: otherwise the loader would search its own folders.
  void *handle = dlopen(fs::absolute(path, ignored).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return Status::badInput(what + "cannot load: " + dlerror());
  const auto entry = reinterpret_cast<BackendEntry>(dlsym(handle, "synclineBackend"));
  if (!entry)
    return Status::badInput(what + "not a backend");
  const Backend *backend = entry(backendInterface);
  if (!backend)
    return Status::badInput(what + "of another version; build it again");
  return backend;
}

} // namespace syncline::core
