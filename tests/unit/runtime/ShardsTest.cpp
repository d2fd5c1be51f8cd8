// Samples in folders of shards: equal to one file, in any number of files, and files that change.
#include "tests/support/TemporaryFolder.h"

#include "runtime/core/StepTypes.h"
#include "runtime/data/Dataset.h"
#include "runtime/data/Npy.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <numeric>
#include <sys/resource.h>

namespace syncline {
namespace {

using namespace data;
using test::TemporaryFolder;

constexpr std::int64_t pixels = 6; ///< of a sample
constexpr int classes = 5;

SampleFormat images() {
  return {{{"x", ElementType::f32, {4, 1, 2, 3}}}, ElementType::i64, {4}, true, 5};
}

/// Writes samples [first, first + count) of one long series, as a pair of files.
void writeShard(const std::string &stem, std::int64_t first, std::int64_t count,
                Shape shape = {1, 2, 3}) {
  std::vector<float> x(static_cast<std::size_t>(count * core::elementCount(shape)));
  std::iota(x.begin(), x.end(), static_cast<float>(first * pixels));
  std::vector<std::int64_t> y(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    y[static_cast<std::size_t>(i)] = (first + i) % classes;
  shape.insert(shape.begin(), count);
  ASSERT_TRUE(writeNpy(stem + "-x.npy", ElementType::f32, shape, x.data()).isOk());
  ASSERT_TRUE(writeNpy(stem + "-y.npy", ElementType::i64, {count}, y.data()).isOk());
}

void expectBad(const std::string &folder, const std::string &why) {
  const Result<Dataset> set = Dataset::open(folder, images());
  ASSERT_FALSE(set.isOk()) << why;
  EXPECT_EQ(set.status().kind(), ErrorKind::badInput);
  EXPECT_NE(set.status().message().find(why), std::string::npos) << set.status().message();
}

// Any sample of a folder is that of one file with all samples, whatever the order of reading.
// Shards may have different sizes, and none of their samples.
TEST(Shards, EqualOneFile) {
  TemporaryFolder one, many;
  writeShard(one.file("all"), 0, 23);
  writeShard(many.file("part-0"), 0, 5);
  writeShard(many.file("part-1"), 5, 0);
  writeShard(many.file("part-10"), 5, 17);
  writeShard(many.file("part-2"), 22, 1);
  std::filesystem::create_directory(many.file("ignored"));
  std::filesystem::copy_file(one.file("all-x.npy"), many.file("README.txt"));
  const Result<Dataset> whole =
      Dataset::open(one.file("all-x.npy") + "," + one.file("all-y.npy"), images());
  const Result<Dataset> parts = Dataset::open(many.path, images());
  ASSERT_TRUE(whole.isOk()) << whole.status().message();
  ASSERT_TRUE(parts.isOk()) << parts.status().message();
  ASSERT_EQ(parts->size(), 23);
  HostBatch wanted, found;
  const Samples samples{.indices = {22, 0, 4, 5, 21, 6, 6, 3}};
  ASSERT_TRUE(whole->read(samples, wanted).isOk());
  ASSERT_TRUE(parts->read(samples, found).isOk());
  EXPECT_EQ(wanted.inputs, found.inputs);
  EXPECT_EQ(wanted.targets, found.targets);
  EXPECT_EQ(parts->nameOf(21), "sample 16 of '" + many.file("part-10-x.npy") + "'");
  EXPECT_EQ(parts->nameOf(22), "sample 0 of '" + many.file("part-2-x.npy") + "'");
}

// A folder may have more files than a process may have open.
TEST(Shards, MoreThanDescriptors) {
  TemporaryFolder files;
  constexpr std::int64_t count = 300;
  for (std::int64_t i = 0; i < count; ++i)
    writeShard(files.file("shard" + std::to_string(1000 + i)), 2 * i, 2);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{400, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const Result<Dataset> set = Dataset::open(files.path, images());
  EXPECT_TRUE(set.isOk()) << set.status().message();
  for (std::int64_t i = 0; set && i < 2 * count; ++i) {
    HostBatch batch;
    const Status s = set->read({.indices = {i}}, batch);
    ASSERT_TRUE(s.isOk()) << s.message();
    EXPECT_EQ(*reinterpret_cast<const float *>(batch.inputs.data()),
              static_cast<float>(pixels * i));
  }
  setrlimit(RLIMIT_NOFILE, &before);
}

// What does not fit together is refused, and the file is named.
TEST(Shards, Refusals) {
  TemporaryFolder files;
  expectBad(files.path, "expected pairs of files 'NAME-x.npy' and 'NAME-y.npy', or a folder");
  writeShard(files.file("a"), 0, 4);
  writeShard(files.file("b"), 4, 4, {1, 3, 2});
  expectBad(files.path, "b-x.npy': expected samples of shape [1, 2, 3], got [1, 3, 2]");
  writeShard(files.file("b"), 4, 3);
  std::filesystem::rename(files.file("b-y.npy"), files.file("c-y.npy"));
  expectBad(files.path, "b-x.npy': expected a file 'b-y.npy' beside it");
  std::filesystem::remove(files.file("b-x.npy"));
  expectBad(files.path, "c-y.npy': expected a file 'c-x.npy' beside it");
  std::filesystem::rename(files.file("c-y.npy"), files.file("labels.npy"));
  expectBad(files.path, "labels.npy': expected a name that ends in '-x.npy' or '-y.npy'");
  std::filesystem::remove(files.file("labels.npy"));
  const std::vector<std::int64_t> labels{0, 1, 2, 5};
  ASSERT_TRUE(writeNpy(files.file("a-y.npy"), ElementType::i64, {4}, labels.data()).isOk());
  expectBad(files.path, "a-y.npy': element 3: expected a class from 0 to 4, got 5");
  ASSERT_TRUE(writeNpy(files.file("a-y.npy"), ElementType::i64, {3}, labels.data()).isOk());
  expectBad(files.path, "a-y.npy' has 3 samples");
}

// Another file of the same size that takes a file's place, where that is opened for each read.
TEST(Shards, FileThatIsExchanged) {
  TemporaryFolder files;
  constexpr std::int64_t count = 200;
  for (std::int64_t i = 0; i < count; ++i)
    writeShard(files.file("shard" + std::to_string(1000 + i)), 4 * i, 4);
  const Result<Dataset> set = Dataset::open(files.path, images());
  ASSERT_TRUE(set.isOk()) << set.status().message();
  HostBatch batch;
  const Samples last{.indices = {4 * count - 1}};
  EXPECT_TRUE(set->read(last, batch));
  for (const char *kind : {"-x.npy", "-y.npy"}) {
    const std::string file = files.file("shard1199") + kind, before = files.file("before");
    std::filesystem::rename(file, before);
    std::filesystem::copy_file(before, file);
    std::filesystem::last_write_time(file, std::filesystem::last_write_time(before) +
                                               std::chrono::hours(1));
    const Status s = set->read(last, batch);
    ASSERT_FALSE(s.isOk()) << kind;
    EXPECT_EQ(s.message(), "'" + file + "': the file was changed or exchanged while it was read");
    std::filesystem::rename(before, file);
    EXPECT_TRUE(set->read(last, batch)) << "its number is the same, whatever its directory says";
  }
}

// Labels are checked when their file is opened, and again when they are read.
TEST(Shards, LabelsThatChange) {
  TemporaryFolder files;
  writeShard(files.file("a"), 0, 4);
  const Result<Dataset> set = Dataset::open(files.path, images());
  ASSERT_TRUE(set.isOk()) << set.status().message();
  HostBatch batch;
  for (const std::int64_t label : {5, -1, 1'000'000'000, -100, 4}) {
    std::fstream labels(files.file("a-y.npy"), std::ios::in | std::ios::out | std::ios::binary);
    labels.seekp(-std::streamoff(sizeof label), std::ios::end);
    labels.write(reinterpret_cast<const char *>(&label), sizeof label).flush();
    EXPECT_TRUE(set->read({.indices = {2}}, batch));
    const Status s = set->read({.indices = {3}}, batch);
    if (label == 4 || label == -100) {
      EXPECT_TRUE(s) << s.message();
      continue;
    }
    ASSERT_FALSE(s.isOk()) << label;
    EXPECT_EQ(s.message(), "'" + files.file("a-y.npy") +
                               "': sample 3: expected a class from 0 to 4, got " +
                               std::to_string(label) + "; the file was changed while it was read");
  }
}

// A file that becomes shorter while it is read is an error that names it, and no signal.
TEST(Shards, FileThatShrinks) {
  TemporaryFolder files;
  constexpr std::int64_t count = 200; // the last ones are opened for each read
  for (std::int64_t i = 0; i < count; ++i)
    writeShard(files.file("shard" + std::to_string(1000 + i)), 40 * i, 40);
  const Result<Dataset> set = Dataset::open(files.path, images());
  ASSERT_TRUE(set.isOk()) << set.status().message();
  for (const std::int64_t shard : {std::int64_t{0}, count - 1}) {
    const std::string file = files.file("shard" + std::to_string(1000 + shard) + "-x.npy");
    std::filesystem::resize_file(file, 200);
    HostBatch batch;
    const Status s = set->read({.indices = {40 * shard + 39}}, batch);
    ASSERT_FALSE(s.isOk());
    EXPECT_EQ(s.kind(), ErrorKind::badInput);
    EXPECT_NE(s.message().find("'" + file + "': the file "), std::string::npos) << s.message();
    EXPECT_NE(s.message().find("while it was read"), std::string::npos) << s.message();
    std::filesystem::remove(file);
    const Status gone = set->read({.indices = {40 * shard + 39}}, batch);
    EXPECT_FALSE(gone.isOk());
  }
}

} // namespace
} // namespace syncline
