// Loading a backend's module: where from, and what is said when it does not work.
#include "runtime/core/BackendModule.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>

namespace syncline {
namespace {

using namespace core;

namespace fs = std::filesystem;

std::string failureOf(const std::string &path) {
  const Result<const Backend *> loaded = loadBackend(path);
  EXPECT_FALSE(loaded);
  EXPECT_EQ(loaded.status().kind(), ErrorKind::badInput);
  return loaded.status().message();
}

// A module lies in lib beside the program's folder unless the environment names another.
TEST(BackendModuleTest, IsLookedForBesideTheProgram) {
  unsetenv("SYNCLINE_CUDA_BACKEND");
  const fs::path program = fs::read_symlink("/proc/self/exe");
  EXPECT_EQ(backendModulePath("cuda"),
            program.parent_path().parent_path() / "lib" / "libsyncline-cuda.so");
  setenv("SYNCLINE_CUDA_BACKEND", "/elsewhere/module.so", 1);
  EXPECT_EQ(backendModulePath("cuda"), "/elsewhere/module.so");
  unsetenv("SYNCLINE_CUDA_BACKEND");
}

// What is not there, not a library, or a library of somebody else is named.
TEST(BackendModuleTest, SaysWhatIsWrongWithAModule) {
  EXPECT_EQ(failureOf("/nowhere/module.so"),
            "'/nowhere/module.so': no such backend; build with its toolkit installed");
  const std::string text = testing::TempDir() + "module.so";
  std::ofstream(text) << "not a library";
  EXPECT_EQ(failureOf(text).rfind("'" + text + "': cannot load: ", 0), 0u);
  fs::remove(text);
  Dl_info library{};
  ASSERT_NE(dladdr(reinterpret_cast<const void *>(&std::strlen), &library), 0);
  const std::string other = library.dli_fname;
  EXPECT_EQ(failureOf(other), "'" + other + "': not a backend");
}

#ifdef SYNCLINE_CUDA_MODULE
// The CUDA module loads on any machine, refuses other interfaces, and says why it cannot compute.
TEST(BackendModuleTest, CudaSaysWhatTheMachineLacks) {
  if (!fs::exists(SYNCLINE_CUDA_MODULE))
    GTEST_SKIP() << "long run: the target device-code builds the module";
  const Result<const Backend *> loaded = loadBackend(SYNCLINE_CUDA_MODULE);
  ASSERT_TRUE(loaded) << loaded.status().message();
  EXPECT_EQ((*loaded)->name(), "cuda");
  void *handle = dlopen(SYNCLINE_CUDA_MODULE, RTLD_NOW | RTLD_NOLOAD);
  const auto entry = reinterpret_cast<BackendEntry>(dlsym(handle, "synclineBackend"));
  EXPECT_EQ(entry(backendInterface), *loaded);
  EXPECT_EQ(entry(backendInterface + 1), nullptr);
  dlclose(handle);
  const Status usable = (*loaded)->available();
  if (usable)
    GTEST_SKIP() << "this machine has a CUDA device";
  EXPECT_EQ(usable.kind(), ErrorKind::badInput);
  EXPECT_NE(usable.message(), "");
  const auto executable = (*loaded)->createExecutable({});
  ASSERT_FALSE(executable);
  EXPECT_EQ(executable.status().message(), usable.message());
}
#endif

} // namespace
} // namespace syncline
