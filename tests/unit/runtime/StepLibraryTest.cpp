// Which step.so the runtime takes.
#include "TinyPlan.h"

#include "runtime/run/Backends.h"
#include "runtime/run/plan/StepLibrary.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace syncline {
namespace {

using namespace run;
using namespace syncline::testing;

/// The CPU's backend by another name.
class CpuBackendCalled final : public core::Backend {
public:
  explicit CpuBackendCalled(std::string name) : called(std::move(name)) {}
  std::string_view name() const override { return called; }
  Status available() const override { return Status::ok(); }
  Result<std::unique_ptr<core::Executable>>
  createExecutable(const core::ExecutableOptions &options) const override {
    return (*openBackend("cpu"))->createExecutable(options);
  }

private:
  std::string called;
};

/// The error of loading a tiny plan's step after `text` in its source became `replacement`, for
/// `backend`; empty when there is none. The plan's folder is PLAN.
std::string errorOf(const std::string &text, const std::string &replacement,
                    const std::string &backend = "cpu") {
  TinyPlan tiny(1);
  tiny.editStep(text, replacement);
  tiny.json["backend"] = backend;
  tiny.seal();
  Result<Plan> plan = loadPlan(tiny.folder());
  EXPECT_TRUE(plan.isOk()) << plan.status().message();
  Result<StepLibrary> library =
      StepLibrary::load(*plan, CpuBackendCalled(backend), {.sizes = plan->sizes});
  if (library)
    return "";
  EXPECT_EQ(library.status().exitCode(), 1);
  std::string message = library.status().message();
  const std::string start = "'" + tiny.file("step.so") + "': ";
  if (message.starts_with(start))
    message.erase(0, start.size());
  if (const std::size_t named = message.find(tiny.folder()); named != std::string::npos)
    message.replace(named, tiny.folder().size(), "PLAN");
  return message;
}

// Steps of another backend would call what is not there, or with memory that is not theirs.
TEST(StepLibrary, OfAnotherBackend) {
  EXPECT_EQ(errorOf("\"cpu\"", "\"cuda\""),
            "expected a step for backend 'cpu', got one for 'cuda'");
  EXPECT_EQ(errorOf("\"cpu\"", "\"cpu\"", "cuda"),
            "expected a step for backend 'cuda', got one for 'cpu'");
}

// A step of another interface is refused before anything of it is called but its version.
TEST(StepLibrary, OfAnotherInterface) {
  EXPECT_EQ(errorOf("return stepAbi;", "return 2;"),
            "expected step interface " + std::to_string(stepAbi) +
                ", got 2; make the plan anew "
                "with 'syncline compile MODEL --cluster FILE -o PLAN'");
}

// Libraries that are no steps are named.
TEST(StepLibrary, NoStep) {
  EXPECT_EQ(errorOf("synclineStepAbi", "somethingElse"), "not a compiled step");
  EXPECT_EQ(errorOf("synclineStepBackend", "somethingElse"), "not a compiled step");
  EXPECT_EQ(errorOf("\"cpu\"", "\"cpu\""), "");
}

} // namespace
} // namespace syncline
