// .npy and CSV files, good and bad; pairs of them as data sets.
#include "TinyPlan.h"

#include "runtime/data/Csv.h"
#include "runtime/data/Dataset.h"
#include "runtime/run/Dump.h"
#include "tests/support/WholeNpy.h"

#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

namespace syncline {
namespace {

using namespace data;
using namespace run;
using namespace syncline::testing;

std::string npy(const std::string &header, const std::string &values) {
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  return out + header + values;
}

std::string headerFor(const std::string &descr, const std::string &shape,
                      const std::string &order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

template <typename F> void expectBad(F &&read, const std::string &path, const std::string &why) {
  auto result = read(path);
  ASSERT_FALSE(result.isOk());
  EXPECT_EQ(result.status().kind(), ErrorKind::badInput);
  EXPECT_NE(result.status().message().find("'" + path + "'"), std::string::npos);
  EXPECT_NE(result.status().message().find(why), std::string::npos) << result.status().message();
}

// What is written is read, for every type and rank; the layout is NumPy's.
TEST(Npy, RoundTrip) {
  TemporaryFolder files;
  std::vector<double> values(24);
  std::iota(values.begin(), values.end(), 0.5);
  for (const Shape &shape : {Shape{}, Shape{3}, Shape{4, 6}, Shape{2, 3, 4}, Shape{0, 5}}) {
    std::string path = files.file("a.npy");
    ASSERT_TRUE(writeNpy(path, ElementType::f64, shape, values.data()).isOk());
    Result<Array> array = openNpy(path);
    ASSERT_TRUE(array.isOk()) << array.status().message();
    EXPECT_EQ(array->shape, shape);
    for (std::int64_t i = 0; i < array->count(); ++i)
      EXPECT_EQ(array->at(i), values[i]);
    std::string bytes = readFile(path);
    EXPECT_EQ((bytes.size() - array->count() * 8) % 64, 0u);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(files.path), {}), 1);
}

// NumPy reads what we write, and we read what NumPy writes in its versions.
TEST(Npy, AgreesWithNumpy) {
  if (std::system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0)
    GTEST_SKIP() << "no python3-numpy";
  TemporaryFolder files;
  float values[] = {1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(writeNpy(files.file("ours.npy"), ElementType::f32, {2, 3}, values).isOk());
  std::string script = "/usr/bin/python3 -c \"import numpy as np; a=np.load('" +
                       files.file("ours.npy") +
                       "'); assert a.dtype==np.float32 and a.shape==(2,3) and a[1,2]==6; "
                       "[np.lib.format.write_array(open('" +
                       files.path +
                       "/v%d.npy'%v,'wb'),np.array([[1,-2],[3,4]],t),version=(v,0)) for v,t in "
                       "((1,np.int32),(2,np.float16),(3,np.int64))]\"";
  ASSERT_EQ(std::system(script.c_str()), 0);
  for (const char *name : {"v1.npy", "v2.npy", "v3.npy"}) {
    Result<Array> array = openNpy(files.file(name));
    ASSERT_TRUE(array.isOk()) << array.status().message();
    EXPECT_EQ(array->shape, (Shape{2, 2}));
    EXPECT_EQ(array->at(1), -2);
  }
}

// Every way to be no .npy file has its own message.
TEST(Npy, BadFiles) {
  TemporaryFolder files;
  std::string path = files.file("bad.npy");
  auto bad = [&](const std::string &bytes, const std::string &why) {
    writeFile(path, bytes);
    expectBad(openNpy, path, why);
  };
  bad("", "the file is empty");
  bad("hello, this is text", "not a .npy file");
  bad(std::string("\x93NUMPY\x09\x00\x10\x00{}", 12), "version 9");
  std::string good = npy(headerFor("<f4", "(2,)"), "12345678");
  for (std::size_t cut = 1; cut < good.size(); ++cut)
    bad(good.substr(0, cut), "");
  bad(good.substr(0, 30), "cut off in its header");
  bad(good.substr(0, good.size() - 1), "expected 8 bytes of values, got 7");
  bad(good + "x", "expected 8 bytes of values, got 9");
  bad(npy(headerFor(">f4", "(2,)"), "12345678"), "element type '>f4' is not supported");
  bad(npy(headerFor("<f4", "(2,)", "True"), "12345678"), "column-major");
  bad(npy(headerFor("<f4", "(-2,)"), "12345678"), "malformed shape");
  bad(npy(headerFor("<f4", "(4611686018427387904, 4611686018427387904)"), ""), "does not fit");
  bad(npy("{'shape': (2,)}", "12345678"), "no .npy header");
  expectBad(openNpy, "/nowhere.npy", "cannot open");
  expectBad(openNpy, files.path, "it is not a regular file");
}

TEST(Csv, Reads) {
  TemporaryFolder files;
  writeFile(files.file("a.csv"), "1, 2.5,-3e2\r\n\n4,5,6");
  Result<Array> a = readCsv(files.file("a.csv"));
  ASSERT_TRUE(a.isOk()) << a.status().message();
  EXPECT_EQ(a->shape, (Shape{2, 3}));
  EXPECT_EQ(a->at(2), -300);
  EXPECT_EQ(a->at(5), 6);
}

TEST(Csv, BadFiles) {
  TemporaryFolder files;
  std::string path = files.file("bad.csv");
  auto bad = [&](const std::string &text, const std::string &why) {
    writeFile(path, text);
    expectBad(readCsv, path, why);
  };
  bad("", "the file is empty");
  bad("\n \n", "the file is empty");
  bad("1,2\n3\n", "line 2: expected 2 columns, got 1");
  bad("1,2\n3,x\n", "line 2: column 2: expected a number, got 'x'");
  bad("1,,2\n", "column 2: expected a number, got ''");
  bad("nan,1\n", "column 1");
  expectBad(readCsv, "/nowhere.csv", "cannot open");
}

SampleFormat images() {
  return {{{"x", ElementType::f32, {2, 1, 2, 2}}}, ElementType::i64, {2}, true, 3};
}

std::string writePair(const TemporaryFolder &files, const Shape &xShape, const Shape &yShape,
                      std::vector<std::int64_t> labels) {
  std::vector<double> x(core::elementCount(xShape));
  std::iota(x.begin(), x.end(), 0);
  EXPECT_TRUE(writeNpy(files.file("x.npy"), ElementType::f64, xShape, x.data()).isOk());
  EXPECT_TRUE(writeNpy(files.file("y.npy"), ElementType::i64, yShape, labels.data()).isOk());
  return files.file("x.npy") + "," + files.file("y.npy");
}

template <typename T> std::vector<T> valuesOf(const std::vector<std::byte> &bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Samples are converted to the model's type and picked by index.
TEST(Dataset, ConvertsAndPicks) {
  TemporaryFolder files;
  Result<Dataset> set = Dataset::open(writePair(files, {4, 1, 2, 2}, {4}, {0, 1, 2, 1}), images());
  ASSERT_TRUE(set.isOk()) << set.status().message();
  HostBatch batch;
  const Status s = set->read({.indices = {3, 1}}, batch);
  ASSERT_TRUE(s.isOk()) << s.message();
  EXPECT_EQ(valuesOf<float>(batch.inputs), (std::vector<float>{12, 13, 14, 15, 4, 5, 6, 7}));
  EXPECT_EQ(valuesOf<std::int64_t>(batch.targets), (std::vector<std::int64_t>{1, 1}));
}

// A CSV line holds a sample of any shape.
TEST(Dataset, CsvSamples) {
  TemporaryFolder files;
  writeFile(files.file("x.csv"), "1,2,3,4\n5,6,7,8\n");
  writeFile(files.file("y.csv"), "2\n0\n");
  Result<Dataset> set = Dataset::open(files.file("x.csv") + "," + files.file("y.csv"), images());
  ASSERT_TRUE(set.isOk()) << set.status().message();
  EXPECT_EQ(set->size(), 2);
}

// Shapes, counts and labels that do not fit are named with their file.
TEST(Dataset, BadPairs) {
  TemporaryFolder files;
  auto bad = [&](const std::string &pair, const std::string &why) {
    Result<Dataset> set = Dataset::open(pair, images());
    ASSERT_FALSE(set.isOk());
    EXPECT_NE(set.status().message().find(why), std::string::npos) << set.status().message();
  };
  bad(writePair(files, {2, 1, 3, 2}, {2}, {0, 1}),
      "expected samples of shape [1, 2, 2], got [1, 3, 2]");
  bad(writePair(files, {2, 1, 2, 2}, {3}, {0, 1, 2}), "x.npy' has 2 samples");
  bad(writePair(files, {2, 1, 2, 2}, {2}, {0, 3}),
      "y.npy': element 1: expected a class from 0 to 2, got 3");
  bad(writePair(files, {2, 1, 2, 2}, {2}, {-1, 0}), "element 0");
  bad(writePair(files, {}, {2}, {0, 1}), "first dimension");
  bad("only-one.npy", "expected two files 'X,Y'");
  bad("a.txt,b.txt", "expected a .npy or a .csv file");
}

// Numbers of rows beyond the model's embedding are refused before training; those from the end and
// labels that are ignored are not.
TEST(Dataset, NumbersOfRows) {
  TemporaryFolder files;
  SampleFormat format = images();
  format.inputs[0].rowCount = 8; // the inputs are 0, 1, 2, ...
  format.inputs[0].name = "ids";
  EXPECT_TRUE(Dataset::open(writePair(files, {2, 1, 2, 2}, {2}, {-100, 1}), format).isOk());
  format.inputs[0].rowCount = 7;
  const auto set = Dataset::open(writePair(files, {2, 1, 2, 2}, {2}, {0, 1}), format);
  ASSERT_FALSE(set.isOk());
  EXPECT_NE(set.status().message().find("x.npy': element 7: expected a row of the embedding of "
                                        "input 'ids', from 0 to 6 or from -7 to -1, got 7"),
            std::string::npos)
      << set.status().message();
}

// Names become file names that stay inside their folder.
TEST(Dump, EscapesNames) {
  EXPECT_EQ(escapeName("layer1.0.conv1.weight"), "layer1.0.conv1.weight");
  EXPECT_EQ(escapeName("fc/w"), "fc%2Fw");
  EXPECT_EQ(escapeName("../x"), "%2E.%2Fx");
  EXPECT_EQ(escapeName("50%"), "50%25");
  EXPECT_EQ(escapeName(std::string(200, 'a')), std::string(200, 'a'));
  // Longer than a file name may be: cut between characters, and told apart by a digest.
  const std::string ours = escapeName(std::string(400, 'a') + "1");
  EXPECT_EQ(ours.size(), 197u);
  EXPECT_NE(ours, escapeName(std::string(400, 'a') + "2"));
  std::string umlauts = "b";
  for (int i = 0; i < 150; ++i)
    umlauts += "\u00e4";
  EXPECT_EQ(escapeName(umlauts).substr(0, 180), umlauts.substr(0, 179) + "~");
}

} // namespace
} // namespace syncline
