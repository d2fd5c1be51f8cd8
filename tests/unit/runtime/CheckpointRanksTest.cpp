// Checkpoints of several ranks, as threads: who saves what, which run has the folder, and which
// checkpoint all agree on.
#include "Ranks.h"
#include "TinyPlan.h"

#include "runtime/cpu/CpuBackend.h"
#include "runtime/run/checkpoint/CheckpointChoice.h"
#include "runtime/run/checkpoint/CheckpointLock.h"
#include "runtime/run/checkpoint/CheckpointState.h"
#include "runtime/run/checkpoint/CheckpointWriter.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <mutex>

namespace syncline {
namespace {

using namespace run;
using namespace testing;
using Kind = CheckpointKey::Kind;

constexpr int ranks = 3;

/// A step with two parameters and a running statistic, whose second bucket travels by
/// "reduce-scatter". Its first bucket's moments are whole on each rank.
std::unique_ptr<core::Executable> makeStep(int rank) {
  core::ExecutableOptions options;
  options.sizes = {64, 64, 512, 512, 4096, 4096};
  options.rank = rank;
  options.ranks = ranks;
  auto step = std::move(*cpu::createCpuExecutable(options));
  StepBuilder &s = step->builder();
  const auto f32 = ElementType::f32;
  s.tensor({"w", Space::parameters, f32, {30}, 0, 128});
  s.tensor({"v", Space::parameters, f32, {90}, 128, 384});
  s.tensor({"w", Space::gradients, f32, {30}, 0, 128});
  s.tensor({"v", Space::gradients, f32, {90}, 128, 384});
  s.tensor({"mean", Space::state, f32, {5}, 0, 64});
  s.bucket({0, 0, "ring", 0, 128});
  s.bucket({1, 0, "reduce-scatter", 128, 384});
  EXPECT_EQ(step->finish().message(), "");
  EXPECT_TRUE(step->setOptimizer({.rate = 0.1, .momentum = 0.9}).isOk());
  EXPECT_TRUE(step->takeShard(1, rank * 128, 128).isOk());
  return step;
}

/// Fills all that a rank has with `salt`; what ranks have in common is equal on all of them.
void fill(core::Executable &step, int rank, int salt) {
  for (std::size_t i = 0; i < step.tensors().size(); ++i) {
    const core::StepTensor &t = step.tensors()[i];
    std::vector<float> values(static_cast<std::size_t>(core::elementCount(t.shape)));
    for (std::size_t at = 0; at < values.size(); ++at)
      values[at] = static_cast<float>(salt) + static_cast<float>(at) +
                   (t.space == Space::state ? 0.25f * static_cast<float>(rank) : 0);
    if (t.space == Space::parameters || t.space == Space::state) {
      EXPECT_TRUE(step.write(static_cast<int>(i), std::as_bytes(std::span(values))).isOk());
    }
  }
  for (const core::StateInterval &interval : step.stateIntervals()) {
    std::vector<float> values(static_cast<std::size_t>(interval.bytes) / sizeof(float));
    for (std::size_t at = 0; at < values.size(); ++at)
      values[at] = static_cast<float>(salt) + static_cast<float>(interval.begin) / 4 +
                   static_cast<float>(at) + 0.5f;
    EXPECT_TRUE(step.writeState(interval, std::as_bytes(std::span(values))).isOk());
  }
}

std::string contents(core::Executable &step, std::span<const std::byte> exchange) {
  std::string all(reinterpret_cast<const char *>(exchange.data()), exchange.size());
  const auto add = [&](auto read, std::int64_t bytes) {
    std::vector<std::byte> values(static_cast<std::size_t>(bytes));
    EXPECT_TRUE(read(values).isOk());
    all.append(reinterpret_cast<const char *>(values.data()), values.size());
  };
  for (std::size_t i = 0; i < step.tensors().size(); ++i)
    if (const core::StepTensor &t = step.tensors()[i];
        t.space == Space::parameters || t.space == Space::state)
      add([&](std::span<std::byte> to) { return step.read(static_cast<int>(i), to); },
          core::elementCount(t.shape) * 4);
  for (const core::StateInterval &interval : step.stateIntervals())
    add([&](std::span<std::byte> to) { return step.readState(interval, to); }, interval.bytes);
  return all;
}

CheckpointManifest manifestOf(std::int64_t step) {
  CheckpointManifest m;
  m.plan = "tiny";
  m.ranks = ranks;
  m.step = step;
  return m;
}

/// Each rank writes the checkpoints of these steps, each with one part.
void writeAll(const std::string &path, const std::vector<std::int64_t> &steps,
              std::array<Status, ranks> *last = nullptr) {
  runRanks(ranks, [&](int rank, transport::Group &group) {
    auto links = CheckpointLinks::open(&group, 20);
    ASSERT_TRUE(links.isOk()) << links.status().message();
    CheckpointWriter writer(CheckpointFolder(path), rank, /*keep=*/2, std::move(*links));
    CheckpointImage image;
    for (const std::int64_t step : steps) {
      const std::vector<std::byte> bytes(1000, static_cast<std::byte>(step + rank));
      writer.wait();
      image = {manifestOf(step), {{{Kind::state, "s", 0, 0}, bytes}}};
      writer.begin(image);
    }
    writer.wait();
    if (last)
      (*last)[static_cast<std::size_t>(rank)] = writer.last();
  });
}

// The ranks' parts have each common value once and about as many bytes each; every rank gets all of
// its own back.
/// Weights beside the step's, as an exchange holds them.
std::span<float> centreOf(core::Executable &step, float value) {
  const std::span<float> room = *step.weights().allocate("a test", 3);
  const std::vector<float> values(3, value);
  EXPECT_TRUE(step.weights().write(room, std::as_bytes(std::span(values))).isOk());
  return room;
}

TEST(CheckpointState, SavesEachValueOnce) {
  const TemporaryFolder files;
  const CheckpointFolder folder(files.file("c"));
  std::filesystem::create_directories(folder.of(7));
  CheckpointManifest m = manifestOf(7);
  std::map<CheckpointKey, int> times;
  std::vector<std::string> wanted;
  for (int rank = 0; rank < ranks; ++rank) {
    auto step = makeStep(rank);
    std::vector<std::byte> exchange(8, static_cast<std::byte>(rank));
    fill(*step, rank, 100);
    const std::span<float> centre = centreOf(*step, rank == 0 ? 0.5f : 1.5f);
    CheckpointState state({*step, {{{}, exchange}, {centre, {}}}, rank, ranks, true});
    auto parts = state.parts();
    ASSERT_TRUE(state.save(parts).isOk());
    std::size_t bytes = 0;
    for (const auto &[key, values] : parts) {
      ++times[key];
      bytes += values.size();
    }
    EXPECT_GE(bytes, 148u + 28);
    m.files.push_back(*writeCheckpointFile(folder.fileOf(7, rank), parts));
    wanted.push_back(contents(*step, exchange));
  }
  for (const auto &[key, count] : times)
    EXPECT_EQ(count, key.kind == Kind::state || key.kind == Kind::exchange ? ranks : 1)
        << describe(key);
  EXPECT_TRUE(times.contains({Kind::optimizer, "w", 0, 0}));
  EXPECT_TRUE(times.contains({Kind::optimizer, "v", 0, 256}));
  for (int rank = 0; rank < ranks; ++rank) {
    auto step = makeStep(rank);
    std::vector<std::byte> exchange(8, static_cast<std::byte>(9));
    fill(*step, rank, 5);
    const std::span<float> centre = centreOf(*step, 9);
    CheckpointState state({*step, {{{}, exchange}, {centre, {}}}, rank, ranks, true});
    auto reader = CheckpointReader::open(folder, m, rank);
    ASSERT_TRUE(reader.isOk());
    const Status restored = state.restore(*reader);
    ASSERT_TRUE(restored.isOk()) << restored.message();
    EXPECT_TRUE(contents(*step, exchange) == wanted[static_cast<std::size_t>(rank)]) << rank;
    std::vector<float> values(3);
    ASSERT_TRUE(step->weights().read(centre, std::as_writable_bytes(std::span(values))).isOk());
    EXPECT_EQ(values, std::vector<float>(3, rank == 0 ? 0.5f : 1.5f));
  }
}

// Where weights differ, each rank saves all of its own.
TEST(CheckpointState, SavesDifferingWeightsOnEachRank) {
  auto step = makeStep(1);
  CheckpointState state({*step, {}, 1, ranks, false});
  std::size_t parameters = 0;
  for (const CheckpointPart &part : state.parts())
    parameters += part.key.kind == Kind::parameter;
  EXPECT_EQ(parameters, 2u);
}

// What the plan keeps itself is not saved, and not asked of a checkpoint that has it.
TEST(CheckpointState, LeavesConstantsToThePlan) {
  const TemporaryFolder files;
  const CheckpointFolder folder(files.file("c"));
  std::filesystem::create_directories(folder.of(7));
  CheckpointManifest m = manifestOf(7);
  m.ranks = 1;
  auto step = makeStep(0);
  fill(*step, 0, 100);
  CheckpointState before({*step, {}, 0, 1, true});
  auto parts = before.parts();
  ASSERT_TRUE(before.save(parts).isOk());
  m.files.push_back(*writeCheckpointFile(folder.fileOf(7, 0), parts));
  std::set<std::string> states;
  for (const CheckpointPart &part : parts)
    if (part.key.kind == Kind::state)
      states.insert(part.key.name);
  ASSERT_FALSE(states.empty());

  auto again = makeStep(0);
  fill(*again, 0, 5);
  CheckpointState state({*again, {}, 0, 1, true, states});
  for (const CheckpointPart &part : state.parts())
    EXPECT_NE(part.key.kind, Kind::state) << part.key.name;
  auto reader = CheckpointReader::open(folder, m, 0);
  ASSERT_TRUE(reader.isOk());
  EXPECT_TRUE(state.restore(*reader).isOk());
}

TEST(CheckpointWriter, CompletesAndKeeps) {
  const TemporaryFolder files;
  writeAll(files.file("c"), {10, 20, 30});
  const CheckpointFolder folder(files.file("c"));
  const auto entries = folder.list();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].step, 30);
  EXPECT_EQ(entries[1].step, 20);
  const auto m = CheckpointManifest::parse(readFile(folder.manifestOf(30)));
  ASSERT_TRUE(m.isOk()) << m.status().message();
  for (int rank = 0; rank < ranks; ++rank)
    EXPECT_EQ(CheckpointManifest::whyBad(folder.fileOf(30, rank),
                                         m->files[static_cast<std::size_t>(rank)]),
              "");
}

// Where one rank cannot write, there is no checkpoint, and the older one stays.
TEST(CheckpointWriter, IsWholeOrNotThere) {
  const TemporaryFolder files;
  writeAll(files.file("c"), {10});
  const CheckpointFolder folder(files.file("c"));
  std::filesystem::create_directories(folder.fileOf(20, 1) + "/in the way");
  std::array<Status, ranks> last;
  writeAll(files.file("c"), {20}, &last);
  ASSERT_FALSE(last[0].isOk());
  EXPECT_NE(last[0].message().find("is not written: rank 1: '" + folder.fileOf(20, 1)),
            std::string::npos)
      << last[0].message();
  ASSERT_EQ(folder.list().size(), 1u);
  EXPECT_EQ(folder.list()[0].step, 10);
}

// One run has a folder. A killed one's file is taken, and goes with the run that took it.
TEST(CheckpointLock, OneHolder) {
  const TemporaryFolder folder;
  const std::string path = folder.file(CheckpointLock::name);
  writeFile(path, "");
  {
    auto first = CheckpointLock::take(folder.path, 0);
    ASSERT_TRUE(first.isOk()) << first.status().message();
    const auto second = CheckpointLock::take(folder.path, 0);
    ASSERT_FALSE(second.isOk());
    EXPECT_NE(second.status().message().find("another run"), std::string::npos);
    EXPECT_TRUE(std::filesystem::exists(path));
    CheckpointLock moved = std::move(*first);
    moved.release();
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_TRUE(CheckpointLock::take(folder.path, 0).isOk());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  std::filesystem::create_symlink(folder.file("elsewhere"), path);
  EXPECT_FALSE(CheckpointLock::take(folder.path, 0).isOk());
  EXPECT_FALSE(std::filesystem::exists(folder.file("elsewhere")));
}

struct Chosen {
  std::array<std::optional<CheckpointManifest>, ranks> manifests;
  std::array<Status, ranks> errors;
  std::vector<std::string> notes;
};

/// What the ranks agree on, each with a folder of its own.
Chosen choose(const std::array<std::string, ranks> &folders) {
  Chosen chosen;
  std::mutex mutex;
  runRanks(ranks, [&](int rank, transport::Group &group) {
    const auto at = static_cast<std::size_t>(rank);
    CheckpointChoice choice(CheckpointFolder{folders[at]},
                            {&group, 30, [&](const std::string &text) {
                               const std::lock_guard lock(mutex);
                               chosen.notes.push_back(text);
                             }});
    chosen.errors[at] = choice.open();
    if (!chosen.errors[at])
      return;
    auto found = choice.choose([](const CheckpointManifest &m) {
      return CheckpointChoice::Opinion{m.step == 40 ? "it is of another plan" : "", ""};
    });
    chosen.errors[at] = found.status();
    if (found)
      chosen.manifests[at] = std::move(*found);
  });
  return chosen;
}

Chosen choose(const std::string &folder) { return choose({folder, folder, folder}); }

void expectStep(const Chosen &chosen, std::int64_t step) {
  for (int rank = 0; rank < ranks; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    EXPECT_TRUE(chosen.errors[at].isOk()) << chosen.errors[at].message();
    ASSERT_TRUE(chosen.manifests[at]);
    EXPECT_EQ(chosen.manifests[at]->step, step);
  }
}

TEST(CheckpointChoice, TakesTheNewestGoodOne) {
  const TemporaryFolder files;
  const CheckpointFolder folder(files.file("c"));
  EXPECT_FALSE(choose(folder.path).manifests[0]);
  writeAll(folder.path, {10, 20});
  expectStep(choose(folder.path), 20);
  const std::string good = readFile(folder.fileOf(20, 2));
  const auto refused = [&](const std::string &why) {
    const Chosen chosen = choose(folder.path);
    expectStep(chosen, 10);
    ASSERT_EQ(chosen.notes.size(), 1u);
    EXPECT_EQ(chosen.notes[0], "checkpoint '" + folder.of(20) + "' is refused: " + why);
  };
  writeFile(folder.fileOf(20, 2), good.substr(0, 100));
  refused("rank 2's file is cut off: 100 bytes, expected " + std::to_string(good.size()));
  std::string flipped = good;
  flipped[good.size() - 1] ^= 4;
  writeFile(folder.fileOf(20, 2), flipped);
  refused("rank 2's file was changed: its SHA-256 differs");
  std::filesystem::remove(folder.fileOf(20, 2));
  refused("rank 2's file is missing");
  writeFile(folder.manifestOf(20), readFile(folder.manifestOf(20)).substr(0, 50));
  refused("its manifest is cut off or not JSON");
  std::filesystem::copy(folder.manifestOf(10), folder.manifestOf(20),
                        std::filesystem::copy_options::overwrite_existing);
  refused("its manifest is that of step 10");
  writeFile(folder.manifestOf(10), "");
  const Chosen none = choose(folder.path);
  for (const Status &error : none.errors) {
    ASSERT_FALSE(error.isOk());
    EXPECT_EQ(error.message(), "no checkpoint in '" + folder.path + "' can be resumed from");
  }
  EXPECT_EQ(none.notes.size(), 2u);
}

TEST(CheckpointChoice, AsksWhatRankZeroThinks) {
  const TemporaryFolder files;
  writeAll(files.file("c"), {30, 40});
  const Chosen chosen = choose(files.file("c"));
  expectStep(chosen, 30);
  ASSERT_EQ(chosen.notes.size(), 1u);
  EXPECT_TRUE(chosen.notes[0].ends_with("/step40' is refused: it is of another plan"));
}

// A rank with a folder of its own is found before training.
TEST(CheckpointChoice, NeedsOneFolder) {
  const TemporaryFolder files;
  std::filesystem::create_directories(files.file("b"));
  const Chosen chosen = choose({files.file("a"), files.file("b"), files.file("a")});
  for (const Status &error : chosen.errors) {
    ASSERT_FALSE(error.isOk());
    EXPECT_EQ(error.message(), "rank 1 does not see what rank 0 writes in '" + files.file("b") +
                                   "': all ranks need the same folder");
  }
  EXPECT_TRUE(std::filesystem::is_empty(files.file("a")));
}

} // namespace
} // namespace syncline
