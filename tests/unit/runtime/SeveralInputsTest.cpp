// Samples of several inputs: which file is whose, what is refused, and synthetic ones.
#include "tests/support/TemporaryFolder.h"

#include "runtime/data/Dataset.h"
#include "runtime/data/Npy.h"
#include "runtime/data/SampleFiles.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>

namespace syncline {
namespace {

using namespace data;
using test::TemporaryFolder;

/// Tokens that number rows and are computed with, and a mask.
SampleFormat texts() {
  return {{{"ids", ElementType::i64, {2, 3}, 7},
           {"ids", ElementType::f32, {2, 3}, 0, true},
           {"mask", ElementType::f32, {2, 3}, 0, true}},
          ElementType::i64,
          {2},
          true,
          4,
          {"kinds"}};
}

class SeveralInputs : public ::testing::Test {
protected:
  void SetUp() override {
    write("ids", {4, 3}, {0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4});
    write("mask", {4, 3}, {1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1});
    write("y", {4}, {0, 1, 2, 3});
  }

  void write(const std::string &name, const Shape &shape, std::vector<std::int64_t> values) {
    EXPECT_TRUE(writeNpy(files.file(name + ".npy"), ElementType::i64, shape, values.data()).isOk());
  }
  std::string words(std::vector<std::string> names) {
    std::string text;
    for (const std::string &name : names)
      text += name + "=" + files.file(name + ".npy") + ",";
    return text + files.file("y.npy");
  }
  void expectBad(const std::string &where, const std::string &why,
                 ErrorKind kind = ErrorKind::badInput) {
    const Result<Dataset> set = Dataset::open(where, texts());
    ASSERT_FALSE(set.isOk()) << why;
    EXPECT_EQ(set.status().kind(), kind);
    EXPECT_NE(set.status().message().find(why), std::string::npos) << set.status().message();
  }

  TemporaryFolder files;
};

template <typename T> std::vector<T> valuesOf(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Each input gets its own file's values, one that is there in two types the same in both.
TEST_F(SeveralInputs, ByName) {
  for (const std::string &where : {words({"mask", "ids"}), words({"ids", "mask", "kinds"})}) {
    const Result<Dataset> set = Dataset::open(where, texts());
    ASSERT_TRUE(set.isOk()) << set.status().message();
    HostBatch batch;
    ASSERT_TRUE(set->read({.indices = {2, 1}}, batch).isOk());
    EXPECT_EQ(valuesOf<std::int64_t>(batch.input(texts(), 0)),
              (std::vector<std::int64_t>{6, 0, 1, 3, 4, 5}));
    EXPECT_EQ(valuesOf<float>(batch.input(texts(), 1)), (std::vector<float>{6, 0, 1, 3, 4, 5}));
    EXPECT_EQ(valuesOf<float>(batch.input(texts(), 2)), (std::vector<float>{1, 1, 1, 1, 0, 0}));
    EXPECT_EQ(valuesOf<std::int64_t>(batch.targets), (std::vector<std::int64_t>{2, 1}));
  }
}

// A folder has a file for each input, with its name at the end.
TEST_F(SeveralInputs, Folders) {
  TemporaryFolder shards;
  for (const char *name : {"ids", "mask", "y"})
    for (const char *shard : {"a-", "b-"})
      std::filesystem::copy_file(files.file(name + std::string(".npy")),
                                 shards.file(shard + std::string(name) + ".npy"));
  const Result<Dataset> set = Dataset::open(shards.path, texts());
  ASSERT_TRUE(set.isOk()) << set.status().message();
  EXPECT_EQ(set->size(), 8);
  EXPECT_EQ(set->nameOf(5), "sample 1 of '" + shards.file("b-ids.npy") + "'");
  std::filesystem::remove(shards.file("b-mask.npy"));
  expectBad(shards.path, "b-y.npy': expected a file 'b-mask.npy' beside it");
  std::filesystem::rename(shards.file("a-mask.npy"), shards.file("a-x.npy"));
  expectBad(shards.path,
            "a-x.npy': expected a name that ends in '-ids.npy' or '-mask.npy' or '-y.npy'");
}

// Files are named, each input once.
TEST_F(SeveralInputs, WrongNames) {
  expectBad(words({}), "expected files 'ids=X,mask=X,Y' or a folder as data", ErrorKind::badUsage);
  expectBad(words({"ids", "mask"}) + ",z.npy", "expected files 'ids=X,mask=X,Y'",
            ErrorKind::badUsage);
  expectBad(words({"ids"}), "expected a file for input 'mask', as mask=FILE");
  expectBad(words({"ids", "msk"}), "the model has no input 'msk', it has 'ids', 'mask'");
  expectBad(words({"ids", "ids", "mask"}), "input 'ids' has two files");
}

// The message names the file and the input, what it has and what it should have.
TEST_F(SeveralInputs, WrongValues) {
  const auto bad = [&](const char *name, const Shape &shape, std::int64_t value,
                       const std::string &why) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>())));
    values.back() = value;
    write(name, shape, values);
    expectBad(words({"ids", "mask"}), std::string(name) + why);
    SetUp();
  };
  bad("ids", {4, 3}, 7,
      ".npy': element 11: expected a row of the embedding of input 'ids', from 0");
  bad("ids", {4, 5}, 0, ".npy': expected samples of shape [3], got [5] for input 'ids'");
  bad("mask", {4, 1, 3}, 0, ".npy': expected samples of shape [3], got [1, 3] for input 'mask'");
  bad("mask", {4, 3}, 1 << 25,
      ".npy': element 11: expected a whole number from -2^24 to 2^24 for input 'mask', got "
      "33554432");
  bad("mask", {5, 3}, 0, ".npy' has 5 samples, '" + files.file("y.npy") + "' has 4 samples");
}

// A model that computes its loss has inputs alone; a file more or one less is refused.
TEST_F(SeveralInputs, WithoutTargets) {
  SampleFormat format = texts();
  format.hasTargets = false;
  format.targetShape = {};
  const auto pair = [&](std::vector<std::string> names) {
    const std::string all = words(std::move(names));
    return all.substr(0, all.rfind(','));
  };
  const Result<Dataset> set = Dataset::open(pair({"ids", "mask"}), format);
  ASSERT_TRUE(set.isOk()) << set.status().message();
  EXPECT_EQ(set->size(), 4);
  EXPECT_FALSE(set->weighsLabels());
  HostBatch batch;
  ASSERT_TRUE(set->read({.indices = {2, 1}}, batch).isOk());
  EXPECT_EQ(valuesOf<float>(batch.input(format, 2)), (std::vector<float>{1, 1, 1, 1, 0, 0}));
  EXPECT_TRUE(batch.targets.empty());
  fillSynthetic(format, 1, 0, batch);
  EXPECT_TRUE(batch.targets.empty());

  const auto bad = [&](const std::string &where, const std::string &why) {
    const Result<Dataset> refused = Dataset::open(where, format);
    ASSERT_FALSE(refused.isOk()) << why;
    EXPECT_NE(refused.status().message().find(why), std::string::npos)
        << refused.status().message();
  };
  bad(words({"ids", "mask"}),
      "expected a file for each input, 'ids=X,mask=X', or a folder as data");
  bad(pair({"ids"}), "expected a file for input 'mask', as mask=FILE");
  write("mask", {5, 3}, std::vector<std::int64_t>(15));
  bad(pair({"ids", "mask"}), "mask.npy' has 5 samples");
}

// A model of one input may name it or not.
TEST_F(SeveralInputs, OneWithoutTargets) {
  SampleFormat format;
  format.inputs = {{.name = "labels", .type = ElementType::i64, .shape = {2}}};
  format.hasTargets = false;
  for (const std::string &where : {files.file("y.npy"), "labels=" + files.file("y.npy")}) {
    const Result<Dataset> set = Dataset::open(where, format);
    ASSERT_TRUE(set.isOk()) << set.status().message();
    EXPECT_EQ(set->size(), 4);
  }
  TemporaryFolder shards;
  std::filesystem::copy_file(files.file("y.npy"), shards.file("a-x.npy"));
  EXPECT_TRUE(Dataset::open(shards.path, format).isOk());
  std::filesystem::copy_file(files.file("y.npy"), shards.file("a-y.npy"));
  EXPECT_EQ(Dataset::open(shards.path, format).status().message(),
            "'" + shards.file("a-y.npy") + "': expected a name that ends in '-x.npy'");
  const float halves[] = {0, 0.5F};
  ASSERT_TRUE(writeNpy(files.file("y.npy"), ElementType::f32, {2}, halves).isOk());
  EXPECT_EQ(Dataset::open(files.file("y.npy"), format).status().message(),
            "'" + files.file("y.npy") +
                "': element 1: expected a whole number for input 'labels', got 0.5");
}

// Without data tokens number rows, equal in both types, and a mask keeps something.
TEST_F(SeveralInputs, Synthetic) {
  SampleFormat format = texts();
  for (InputFormat &input : format.inputs)
    input.shape = {16, 3};
  format.targetShape = {16};
  HostBatch batch;
  fillSynthetic(format, 1, 0, batch);
  const auto ids = valuesOf<std::int64_t>(batch.input(format, 0));
  const auto reals = valuesOf<float>(batch.input(format, 1)),
             mask = valuesOf<float>(batch.input(format, 2));
  ASSERT_EQ(ids.size(), 48u);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_TRUE(ids[i] >= 0 && ids[i] < 7);
    EXPECT_EQ(static_cast<float>(ids[i]), reals[i]);
    EXPECT_TRUE(mask[i] == 1 || (mask[i] == 0 && i % 3 > 0));
  }
  EXPECT_GT(std::count(mask.begin(), mask.end(), 0.0f), 4);
}

} // namespace
} // namespace syncline
