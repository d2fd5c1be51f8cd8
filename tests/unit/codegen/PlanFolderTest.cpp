// Plan folders are whole, reproducible, and every changed byte is found.
#include "codegen/folder/PlanFolder.h"
#include "codegen/folder/Hashes.h"
#include "codegen/folder/PartialFolder.h"
#include "codegen/json/EmitPlanJson.h"
#include "ir/cluster/Cluster.h"
#include "syncline/PlanFiles.h"
#include "tests/unit/codegen/PlanModule.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace syncline;
using namespace syncline::codegen;
using namespace syncline::test;
namespace fs = std::filesystem;

namespace {

std::string read(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

PlanSources sourcesOf(mlir::ModuleOp module) {
  PlanSources sources{module, {"1.2.3", "small", "aa", "bb"}, SYNCLINE_RUNTIME_INCLUDE, {}, {}};
  sources.files.push_back({"weights.bin", [](const std::string &path) {
                             std::ofstream(path) << std::string(96, 'w');
                             return Status::ok();
                           }});
  return sources;
}

/// As `compile --backend cuda` plans.
void planForNccl(mlir::ModuleOp module) {
  auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  module->setAttr(cluster::specAttr, cluster::withNccl(spec, true));
}

class PlanFolder : public testing::Test {
protected:
  PlanFolder() : module(plans.parse(smallNetwork())) {}

  void SetUp() override {
    const auto written = writePlan(plan, sourcesOf(*module));
    ASSERT_TRUE(written.isOk()) << written.status().message();
  }

  /// The error of verifying; empty when there is none.
  std::string verify() {
    PlanModule fresh;
    const auto verified = verifyPlanFolder(plan, fresh.context);
    return verified.isOk() ? "" : verified.status().message();
  }

  /// Changes plan.json and gives it the hash that fits.
  void rewrite(const std::function<void(nlohmann::json &)> &change) {
    auto document = nlohmann::json::parse(read(plan + "/plan.json"));
    change(document);
    document["hashes"]["plan"] = planHash(document);
    std::ofstream(plan + "/plan.json") << document.dump();
  }

  PlanModule plans;
  TemporaryFolder scratch;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string plan = scratch.file("small.plan");
};

} // namespace

TEST_F(PlanFolder, HoldsEveryFileAndVerifies) {
  for (const char *name : {"plan.mlir", "plan.json", "step.cpp", "step.so", "weights.bin"})
    EXPECT_TRUE(fs::exists(plan + "/" + name)) << name;
  EXPECT_EQ(verify(), "");
}

TEST_F(PlanFolder, SaysWhatThePlanIs) {
  const auto read = readPlanJson(plan);
  ASSERT_TRUE(read.isOk()) << read.status().message();
  const nlohmann::json &json = *read;
  EXPECT_EQ(json["ranks"], 2);
  EXPECT_EQ(json["batch"], 4);
  EXPECT_EQ(json["loss"], "cross-entropy:smoothing=0.25");
  EXPECT_EQ(json["runnable"], true);
  EXPECT_EQ(json["output"]["name"], "logits");
  EXPECT_EQ(json["predicted"]["step"], 3.125);
  EXPECT_EQ(json["predicted"]["planner"]["step"], 3.25); // its updates come last
  EXPECT_EQ(json["predicted"]["planner"]["finish"], 3);
  EXPECT_EQ(json["predicted"]["exposed"], 0.5);
  EXPECT_EQ(json["optimal"], true);
  EXPECT_EQ(json["buckets"][1]["exposed"], 0.5);
  EXPECT_EQ(json["buckets"][1]["members"], nlohmann::json::array({"conv.weight"}));
  EXPECT_EQ(json["memory"]["arena"], 8192);
  const nlohmann::json &tensors = json["tensors"];
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors[0]["kind"], "constant");
  EXPECT_EQ(tensors[0]["init"]["values"], nlohmann::json::array({0.5, 1.0}));
  EXPECT_EQ(tensors[1]["init"]["kind"], "normal");
  EXPECT_EQ(tensors[2]["offset"], 64);
}

// A constant has its values in the file, or one for all where its elements are equal.
TEST(PlanJson, HasNoLongListsOfValues) {
  const auto constantOf = [](std::string begin) {
    std::string text = smallNetwork();
    const std::string old = "init = dense<[[[0.5]], [[1.0]]]> : tensor<2x1x1xf32>";
    text.replace(text.find(old), old.size(), begin);
    PlanModule fresh;
    return (
        *emitPlanJson(*fresh.parse(text), PlanInfo{"1.2.3", "small", "aa", "bb"}))["tensors"][0];
  };
  const nlohmann::json fixed = constantOf("fixed, values = 0 : i64");
  EXPECT_EQ(fixed["kind"], "constant");
  EXPECT_EQ(fixed["offset"], 0);
  EXPECT_TRUE(fixed["init"].is_null());
  const nlohmann::json equal = constantOf("init = dense<0.5> : tensor<2x1x1xf32>");
  EXPECT_EQ(equal["kind"], "constant");
  EXPECT_EQ(equal["init"], (nlohmann::json{{"kind", "constant"}, {"value", 0.5}}));
}

TEST_F(PlanFolder, CompilesToTheSameBytesAgain) {
  const std::string again = scratch.file("again.plan");
  PlanModule fresh;
  auto copy = fresh.parse(smallNetwork());
  ASSERT_TRUE(writePlan(again, sourcesOf(*copy)).isOk());
  for (const auto &entry : fs::directory_iterator(plan))
    EXPECT_EQ(read(entry.path()), read(again + "/" + entry.path().filename().string()))
        << entry.path().filename();
}

TEST_F(PlanFolder, FindsAChangedByteInEveryFile) {
  for (const char *name : {"plan.mlir", "plan.json", "step.cpp", "step.so", "weights.bin"}) {
    const std::string path = plan + "/" + name, before = read(path);
    std::string changed = before;
    changed[changed.size() / 2] ^= 1;
    std::ofstream(path, std::ios::binary) << changed;
    EXPECT_NE(verify().find(name), std::string::npos) << name << ": " << verify();
    std::ofstream(path, std::ios::binary) << before;
  }
  EXPECT_EQ(verify(), "");
}

TEST_F(PlanFolder, FindsAJsonThatDiffersFromThePlanThoughItsHashFits) {
  rewrite([](nlohmann::json &json) { json["predicted"]["step"] = 1e-9; });
  EXPECT_NE(verify().find("'predicted' differs"), std::string::npos) << verify();
}

TEST_F(PlanFolder, FindsGeneratedCodeThatDiffersThoughItsHashFits) {
  std::ofstream(plan + "/step.cpp", std::ios::app) << "// and more\n";
  rewrite([&](nlohmann::json &json) {
    json["hashes"]["files"]["step.cpp"] = *sha256OfFile(plan + "/step.cpp");
  });
  EXPECT_NE(verify().find("step.cpp"), std::string::npos) << verify();
}

TEST_F(PlanFolder, FindsAFileWithoutAHash) {
  for (const char *name : {"plan.mlir", "step.cpp", "step.so", "weights.bin"}) {
    const std::string before = read(plan + "/plan.json");
    rewrite([&](nlohmann::json &json) { json["hashes"]["files"].erase(name); });
    EXPECT_NE(verify().find("no hash of '" + std::string(name) + "'"), std::string::npos)
        << verify();
    std::ofstream(plan + "/plan.json") << before;
  }
}

TEST_F(PlanFolder, IsJudgedByTheBackendItNames) {
  EXPECT_EQ(nlohmann::json::parse(read(plan + "/plan.json"))["backend"], "cpu");
  rewrite([](nlohmann::json &json) { json["backend"] = "cuda"; });
  EXPECT_NE(verify().find("no hash of 'step.cu'"), std::string::npos) << verify();
  rewrite([](nlohmann::json &json) { json["backend"] = "tpu"; });
  EXPECT_NE(verify().find("plan.json': unknown backend 'tpu'"), std::string::npos) << verify();
}

// P24: messages are planned for NCCL where the backend's are, and nowhere else.
TEST_F(PlanFolder, RefusesMessagesPlannedForSomebodyElse) {
  PlanSources sources = sourcesOf(*module);
  sources.info.backend = "cuda";
  const auto foreign = writePlan(scratch.file("foreign.plan"), sources);
  ASSERT_FALSE(foreign.isOk());
  EXPECT_NE(
      foreign.status().message().find("P24: the step is for backend 'cuda', expected messages "
                                      "planned for NCCL"),
      std::string::npos)
      << foreign.status().message();
  planForNccl(*module);
  const auto own = writePlan(scratch.file("foreign.plan"), sourcesOf(*module));
  ASSERT_FALSE(own.isOk());
  EXPECT_NE(
      own.status().message().find("P24: the step is for backend 'cpu', expected messages that "
                                  "are not"),
      std::string::npos)
      << own.status().message();
}

// The tuner's table is hashed, and what plan.mlir gives. What the compiler makes is of no interest.
TEST_F(PlanFolder, HoldsATunersTableForGpus) {
  const std::string compiler = scratch.file("nvcc");
  std::ofstream(compiler) << "#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\n: > \"$2\"\n";
  fs::permissions(compiler, fs::perms::owner_all);
  setenv("NVCC", compiler.c_str(), 1);
  planForNccl(*module);
  PlanSources sources = sourcesOf(*module);
  sources.info.backend = "cuda";
  const auto written = writePlan(plan, sources);
  unsetenv("NVCC");
  ASSERT_TRUE(written.isOk()) << written.status().message();
  EXPECT_EQ(verify(), "");
  EXPECT_EQ((*written)["nccl"], true);
  const std::string table = plan + "/nccl-tuner.csv", text = read(table);
  EXPECT_NE(text.find("\nallreduce,64,64,ring,,-1,-1,2\n"), std::string::npos) << text;
  std::ofstream(table, std::ios::app) << "allreduce,1,1,tree,ll,-1,-1,2\n";
  EXPECT_NE(verify().find("nccl-tuner.csv': the file was changed"), std::string::npos) << verify();
  rewrite([&](nlohmann::json &json) {
    json["hashes"]["files"]["nccl-tuner.csv"] = *sha256OfFile(table);
  });
  EXPECT_NE(verify().find("nccl-tuner.csv': differs from what plan.mlir gives"), std::string::npos)
      << verify();
  rewrite([&](nlohmann::json &json) { json["hashes"]["files"].erase("nccl-tuner.csv"); });
  EXPECT_NE(verify().find("no hash of 'nccl-tuner.csv'"), std::string::npos) << verify();
}

TEST_F(PlanFolder, RefusesAnotherSchema) {
  rewrite([](nlohmann::json &json) { json["schema"] = 19; });
  const auto read = readPlanJson(plan);
  ASSERT_FALSE(read.isOk());
  EXPECT_EQ(read.status().message(),
            "'" + plan +
                "/plan.json': expected schema 20, got 19; make the plan anew with "
                "'syncline compile MODEL --cluster FILE -o " +
                plan + "'");
}

TEST_F(PlanFolder, MissesAFile) {
  fs::remove(plan + "/weights.bin");
  EXPECT_NE(verify().find("weights.bin"), std::string::npos) << verify();
}

TEST_F(PlanFolder, ReplacesAnOlderPlan) {
  rewrite([](nlohmann::json &json) { json["schema"] = 3; });
  std::ofstream(plan + "/step.so") << "damaged";
  std::ofstream(plan + "/convolutions.tsv") << "as run keeps it";
  ASSERT_TRUE(writePlan(plan, sourcesOf(*module)).isOk());
  EXPECT_FALSE(fs::exists(plan + "/convolutions.tsv"));
  EXPECT_EQ(verify(), "");
}

// Models and checkpoints that people saved into a plan, links, folders named like its files.
TEST_F(PlanFolder, LeavesAPlanAloneThatHoldsMore) {
  const std::vector<std::function<void(const std::string &)>> makers = {
      [](const std::string &path) { std::ofstream(path) << "trained"; },
      [](const std::string &path) { fs::create_directories(path + "/step40"); },
      [](const std::string &path) { fs::create_symlink("plan.mlir", path); },
  };
  for (const char *name : {"trained.onnx", "step.cu", ".hidden"})
    for (const auto &make : makers) {
      const std::string path = plan + "/" + name;
      if (name == std::string("step.cu") && &make == makers.data())
        continue; // a plan's file
      make(path);
      const auto written = writePlan(plan, sourcesOf(*module));
      ASSERT_FALSE(written.isOk()) << path;
      EXPECT_EQ(written.status().message(), "'" + plan + "': exists and holds '" + name +
                                                "', which 'compile' did not write; it is left "
                                                "alone");
      EXPECT_TRUE(fs::exists(fs::symlink_status(path)));
      EXPECT_EQ(verify(), "");
      fs::remove_all(path);
    }
  EXPECT_TRUE(writePlan(plan, sourcesOf(*module)).isOk());
}

TEST_F(PlanFolder, LeavesAFolderAloneThatIsNoPlan) {
  const std::string other = scratch.file("thesis");
  fs::create_directory(other);
  std::ofstream(other + "/chapter1") << "dear reader";
  for (const char *text : {"", "{\"mine\": 1}", "[]", "{", "{\"schema\": 18, \"hashes\": {}}"}) {
    const auto written = writePlan(other, sourcesOf(*module));
    ASSERT_FALSE(written.isOk());
    EXPECT_NE(written.status().message().find("is not a plan"), std::string::npos) << text;
    EXPECT_TRUE(fs::exists(other + "/chapter1"));
    std::ofstream(other + "/plan.json") << text;
  }
}

// No reader takes such a plan.json, so its end is never read. Blanks behind JSON are JSON.
TEST_F(PlanFolder, LeavesAPlanAloneThatIsTooLargeToRead) {
  ASSERT_TRUE(expectReplaceable(plan).isOk());
  std::ofstream(plan + "/plan.json", std::ios::app) << std::string(maxPlanBytes, ' ');
  EXPECT_EQ(expectReplaceable(plan).message(),
            "'" + plan + "': exists and is not a plan; it is left alone");
}

TEST_F(PlanFolder, NeedsANameOfItsOwn) {
  for (const char *end : {"/.", "/..", "/./"}) {
    const auto written = writePlan(plan + end, sourcesOf(*module));
    ASSERT_FALSE(written.isOk());
    EXPECT_NE(written.status().message().find("expected the name"), std::string::npos) << end;
  }
  EXPECT_EQ(verify(), "");
}

TEST_F(PlanFolder, LeavesNothingBehindAnError) {
  PlanSources sources = sourcesOf(*module);
  sources.files.push_back(
      {"model.onnx", [](const std::string &) { return Status::badInput("disk full"); }});
  const std::string target = scratch.file("never.plan");
  const auto written = writePlan(target, sources);
  ASSERT_FALSE(written.isOk());
  EXPECT_EQ(written.status().message(), "disk full");
  for (const auto &entry : fs::directory_iterator(scratch.path))
    EXPECT_EQ(entry.path().string(), plan);
}

// Only a step for GPUs may lack its compiler, and only where the caller lets it.
TEST_F(PlanFolder, LacksACompilerOnlyOnGpus) {
  ASSERT_EQ(setenv("NVCC", "/nowhere/nvcc", 1), 0);
  planForNccl(*module);
  PlanSources sources = sourcesOf(*module);
  sources.info.backend = "cuda";
  const std::string target = scratch.file("gpus.plan");
  const auto refused = writePlan(target, sources);
  ASSERT_FALSE(refused.isOk());
  EXPECT_NE(refused.status().message().find("install one or set NVCC"), std::string::npos);
  sources.mayLackCompiler = true;
  const auto written = writePlan(target, sources);
  ASSERT_TRUE(written.isOk()) << written.status().message();
  EXPECT_TRUE(isUncompiled(*written));
  EXPECT_TRUE(fs::exists(target + "/step.cu"));
  EXPECT_FALSE(fs::exists(target + "/step.so"));
  const auto verified = verifyPlanFolder(target, plans.context);
  EXPECT_TRUE(verified.isOk()) << verified.status().message();
  unsetenv("NVCC");
}

TEST(PlanFolderOfATrace, HasNoStepAndSaysSo) {
  PlanModule plans;
  TemporaryFolder scratch;
  auto module = plans.parse(smallTrace());
  PlanSources sources = sourcesOf(*module);
  sources.files.clear();
  const std::string plan = scratch.file("trace.plan");
  const auto written = writePlan(plan, sources);
  ASSERT_TRUE(written.isOk()) << written.status().message();
  EXPECT_EQ((*written)["runnable"], false);
  EXPECT_EQ((*written)["buckets"].size(), 2u);
  EXPECT_EQ((*written)["buckets"][0]["bytes"], 64);
  EXPECT_FALSE(fs::exists(plan + "/step.cpp"));
  EXPECT_TRUE(verifyPlanFolder(plan, plans.context).isOk());
}

TEST(PlanJson, SaysOptimalWithinTheCheckersTolerance) {
  const auto emitted = [](const std::string &bound) {
    PlanModule plans;
    std::string text = smallTrace();
    text.replace(text.find("bound 3.0"), std::string("bound 3.0").size(), "bound " + bound);
    auto module = plans.parse(text);
    auto json = emitPlanJson(*module, {"1.2.3", "small", "aa", "bb"});
    EXPECT_TRUE(json.isOk()) << json.status().message();
    return *json;
  };
  for (const char *bound : {"2.9999999999999991", "3.0", "3.0000000000000009"}) {
    const nlohmann::json plan = emitted(bound);
    EXPECT_EQ(plan["optimal"], true) << bound;
    EXPECT_GE(plan["predicted"]["planner"]["gap"].get<double>(), 0) << bound;
  }
  EXPECT_EQ(emitted("2.99")["optimal"], false);
  EXPECT_GT(emitted("2.99")["predicted"]["planner"]["gap"].get<double>(), 0.003);
}

TEST(PlanFolderOfNothing, IsRefused) {
  TemporaryFolder scratch;
  const auto read = readPlanJson(scratch.file("none"));
  ASSERT_FALSE(read.isOk());
  EXPECT_NE(read.status().message().find("does not exist"), std::string::npos);
  std::ofstream(scratch.file("plan.json"));
  EXPECT_NE(readPlanJson(scratch.path).status().message().find("empty"), std::string::npos);
}
