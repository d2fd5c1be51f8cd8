// Writes the linear classifier's plan folder.
#include "TinyPlan.h"

#include "runtime/run/checkpoint/Sha256.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <unistd.h>

namespace syncline::testing {

static const char *const stepSource = R"(#include "syncline/Step.h"
using namespace syncline;

extern "C" int synclineStepAbi() { return stepAbi; }

extern "C" const char *synclineStepBackend() { return "cpu"; }

extern "C" void synclineBuildStep(StepBuilder &s) {
  auto f32 = ElementType::f32;
  Tensor x = s.tensor({"x", Space::input, f32, {BATCH, 4}, 0, BATCH * 16});
  Tensor t = s.tensor({"labels", Space::target, ElementType::i64, {BATCH}, 0, BATCH * 8});
  Tensor b = s.tensor({"fc/b", Space::parameters, f32, {3}, 0, 64});
  Tensor w = s.tensor({"fc/w", Space::parameters, f32, {4, 3}, 64, 64});
  Tensor db = s.tensor({"fc/b", Space::gradients, f32, {3}, 0, 64});
  Tensor dw = s.tensor({"fc/w", Space::gradients, f32, {4, 3}, 64, 64});
  Tensor y = s.tensor({"logits", Space::arena, f32, {BATCH, 3}, 0, 1024});
  Tensor dy = s.tensor({"d logits", Space::arena, f32, {BATCH, 3}, 1024, 1024});
  Tensor loss = s.tensor({"loss", Space::arena, f32, {}, 2048, 64});
  s.phase("forward");
  s.matmul("fc", x, false, w, false, b, y);
  s.crossEntropy("loss", y, t, Tensor(), loss, dy);
  s.loss(loss);
  s.phase("backward");
BACKWARD}
)";

static const char *const summedBackward = R"(
  s.bucket({.id = 0, .channel = 0, .scheme = "SCHEME",
            .offset = 0, .extent = 64});
  s.bucket({.id = 1, .channel = 0, .scheme = "SCHEME",
            .offset = 64, .extent = 64});
  s.reduce("fc", Reduction::sum, dy, db, {0});
  s.issue(0);
  s.matmul("fc", x, true, dy, false, none, dw);
  s.issue(1);
  s.phase("update");
  s.wait(0);
  UPDATE(0);
  s.wait(1);
  UPDATE(1);
)";

static const char *const gatheredBackward = R"(
  Tensor xs = s.tensor({"xs", Space::arena, f32, {ALL, 4}, 4096, ALL * 16});
  Tensor dys = s.tensor({"dys", Space::arena, f32, {ALL, 3}, 4096 + ALL * 64, ALL * 12});
  s.bucket({.id = 0, .channel = 0, .scheme = "SCHEME",
            .offset = 0, .extent = 128});
  s.gather(0, std::vector{x, dy}, std::vector{xs, dys});
  s.phase("update");
  s.wait(0);
  s.reduce("fc", Reduction::sum, dys, db, {0});
  s.matmul("fc", xs, true, dys, false, none, dw);
  s.update(0);
)";

void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

static std::string weights() {
  std::vector<float> values;
  for (int i = 0; i < 12; ++i)
    values.push_back(0.1f * static_cast<float>(i % 5) - 0.2f);
  for (int i = 0; i < 3; ++i)
    values.push_back(0.05f * static_cast<float>(i));
  return {reinterpret_cast<const char *>(values.data()), values.size() * 4};
}

static void replaceAll(std::string &text, std::string_view name, const std::string &value) {
  for (std::size_t at; (at = text.find(name)) != std::string::npos;)
    text.replace(at, name.size(), value);
}

TinyPlan::TinyPlan(int ranks, int batch, const std::string &model, const std::string &scheme,
                   int servers) {
  const bool gathers = scheme == "factors";
  std::string source = stepSource;
  replaceAll(source, "BACKWARD", gathers ? gatheredBackward : summedBackward);
  replaceAll(source, "UPDATE", scheme == "reduce-scatter" ? "(void)" : "s.update");
  replaceAll(source, "ALL", std::to_string(ranks * batch));
  replaceAll(source, "BATCH", std::to_string(batch));
  replaceAll(source, "SCHEME", scheme);
  writeFile(file("step.cpp"), source);
  writeFile(file("plan.mlir"), "module {}\n");
  writeFile(file("weights.bin"), weights());
  writeFile(file("model.onnx"), model);
  compile();
  auto tensor = [](const char *name, std::vector<int> shape, int bytes, int offset) {
    return nlohmann::json{{"name", name},   {"kind", "parameter"}, {"type", "f32"},
                          {"shape", shape}, {"bytes", bytes},      {"offset", offset},
                          {"init", nullptr}};
  };
  auto bucket = [&](int id, std::vector<const char *> members) {
    return nlohmann::json{{"id", id},         {"members", members},
                          {"scheme", scheme}, {"channel", 0},
                          {"ready", 1e-5},    {"start", 1e-5},
                          {"end", 2e-5},      {"reconstructed", 2e-5},
                          {"traffic", 128.0}, {"extent", 64 * static_cast<int>(members.size())}};
  };
  nlohmann::json buckets = {bucket(0, {"fc/b"}), bucket(1, {"fc/w"})};
  if (gathers)
    buckets = {bucket(0, {"fc/b", "fc/w"})};
  json = {
      {"schema", planSchema},
      {"optimizer", "sgd"},
      {"precision", "fp32"},
      {"wire", "fp32"},
      {"overlap", "backward"},
      {"version", "0.1.0"},
      {"name", "tiny"},
      {"planner", "optimal"},
      {"ranks", ranks},
      {"servers", servers},
      {"batch", batch},
      {"loss", "cross-entropy"},
      {"backend", "cpu"},
      {"runnable", true},
      {"inputs", nlohmann::json::array({{{"name", "x"}, {"type", "f32"}, {"shape", {batch, 4}}}})},
      {"unneeded_inputs", nlohmann::json::array()},
      {"target", {{"name", "labels"}, {"type", "i64"}, {"shape", {batch}}}},
      {"output", {{"name", "logits"}, {"type", "f32"}, {"shape", {batch, 3}}}},
      {"tensors", {tensor("fc/w", {4, 3}, 48, 0), tensor("fc/b", {3}, 12, 48)}},
      {"memory",
       {{"arena", 4096 + 128 * ranks * batch},
        {"parameters", 128},
        {"gradients", 128},
        {"state", 0}}},
      {"buckets", buckets},
      {"predicted", {{"step", 1e-4}, {"traffic", 256.0}, {"planner", {{"step", 2e-4}}}}}};
  seal();
}

/// What the host's compiler makes of a step. Most plans have one of few steps, and a program
/// compiles each once.
static std::string compiled(const std::string &source) {
  static std::map<std::string, std::string> known;
  const auto [at, isNew] = known.try_emplace(source);
  if (isNew) {
    TemporaryFolder files;
    writeFile(files.file("step.cpp"), source);
    // In quotes, since folders may have spaces.
    const std::string command = "c++ -std=c++20 -shared -fPIC -I'" SYNCLINE_INCLUDE "' -o '" +
                                files.file("step.so") + "' '" + files.file("step.cpp") + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
    at->second = readFile(files.file("step.so"));
  }
  return at->second;
}

void TinyPlan::compile() const {
  std::filesystem::remove(file("step.so")); // a process may run the one before
  writeFile(file("step.so"), compiled(readFile(file("step.cpp"))));
}

void TinyPlan::replaceInStep(const std::string &text, const std::string &replacement) const {
  std::string source = readFile(file("step.cpp"));
  const std::size_t at = source.find(text);
  ASSERT_NE(at, std::string::npos) << text;
  writeFile(file("step.cpp"), source.replace(at, text.size(), replacement));
}

void TinyPlan::editStep(const std::string &text, const std::string &replacement) {
  replaceInStep(text, replacement);
  compile();
  seal();
}

void TinyPlan::slowDown(double seconds, int held) {
  const std::string entry = "extern \"C\" void", phase = "s.phase(\"forward\");";
  std::string slow = R"(
#include <dlfcn.h>
#include <stdio.h>
#include <string>
#include <unistd.h>
/// The file "go" beside this library.
static std::string place() {
  Dl_info library;
  const char *path = dladdr((void *)place, &library) ? library.dli_fname : "";
  return std::string(path).substr(0, std::string(path).rfind('/') + 1) + "go";
}
static void slow(void *const *, const void *const *, std::int64_t, void *) {
  static int number = 0;
  dprintf(2, "forward %d\n", number);
  while (number == HELD && access(place().c_str(), F_OK) != 0)
    usleep(1000);
  ++number;
  usleep(TIME);
}
)";
  replaceAll(slow, "HELD", std::to_string(held));
  replaceAll(slow, "TIME", std::to_string(static_cast<int>(seconds * 1e6)));
  replaceInStep(entry, slow + entry);
  editStep(phase, phase + "s.pointwise(\"slow\", slow, std::span<const Tensor>(&x, 1), "
                          "std::span<const Tensor>(&y, 1), {.flat = false});");
}

void TinyPlan::letGo() const { writeFile(file("go"), ""); }

void TinyPlan::seal() {
  nlohmann::json hashes;
  for (const char *name : {"plan.mlir", "step.cpp", "step.so", "weights.bin", "model.onnx"})
    hashes[name] = *run::sha256OfFile(file(name));
  json["hashes"] = {{"files", hashes}, {"plan", ""}};
  json["hashes"]["plan"] = run::sha256(json.dump());
  writeFile(file("plan.json"), json.dump(2));
}

} // namespace syncline::testing
