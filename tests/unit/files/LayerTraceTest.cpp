// Layer traces: what they mean, and what each mistake is told, with its line and column.
#include "frontend/files/LayerTrace.h"
#include "tests/support/Results.h"

#include <gtest/gtest.h>

namespace syncline::files {
namespace {

std::string layersFailure(std::string_view text) {
  return test::messageOf(parseLayerTrace(text, "t.csv"));
}

std::string rows(std::string_view text) {
  return "name,bytes,forward,backward\n" + std::string(text);
}

// Layers keep their order; units become seconds and bytes.
TEST(LayerTrace, ReadsLayers) {
  const auto trace =
      parseLayerTrace(rows("conv1,4096B,1.5ms,3ms\nrelu1,0B,10us,10us\nfc,1MiB,1ms,2ms"), "t.csv");
  ASSERT_TRUE(trace) << trace.status().message();
  ASSERT_EQ(trace->layers.size(), 3u);
  EXPECT_EQ(trace->layers[0].name, "conv1");
  EXPECT_EQ(trace->layers[0].bytes, 4096);
  EXPECT_EQ(trace->layers[0].forward, 0.0015);
  EXPECT_EQ(trace->layers[0].backward, 0.003);
  EXPECT_FALSE(trace->layers[0].factors);
  EXPECT_EQ(trace->layers[1].bytes, 0);
}

// M, N, K belong to fully connected layers; others leave all three empty.
TEST(LayerTrace, ReadsFactors) {
  const auto trace = parseLayerTrace("name,bytes,forward,backward,M,N,K\n"
                                     "conv,4KiB,1ms,2ms,,,\nfc,64MiB,1ms,2ms,4096,4096,32\n",
                                     "t.csv");
  ASSERT_TRUE(trace) << trace.status().message();
  EXPECT_FALSE(trace->layers[0].factors);
  ASSERT_TRUE(trace->layers[1].factors);
  EXPECT_EQ(trace->layers[1].factors->m, 4096);
  EXPECT_EQ(trace->layers[1].factors->k, 32);
}

// Quotes, doubled quotes, spaces, CRLF, a byte order mark and blank lines are what RFC 4180 and
// spreadsheets make of a table.
TEST(LayerTrace, SpreadsheetText) {
  const auto trace = parseLayerTrace("\xEF\xBB\xBFname, bytes ,forward,backward\r\n"
                                     "\"a,\"\"b\"\"\", 1KB , \"1 ms\" ,2ms\r\n\r\n",
                                     "t.csv");
  ASSERT_TRUE(trace) << trace.status().message();
  ASSERT_EQ(trace->layers.size(), 1u);
  EXPECT_EQ(trace->layers[0].name, "a,\"b\"");
  EXPECT_EQ(trace->layers[0].bytes, 1000);
}

// A NaN, infinite or negative time is refused in its cell.
TEST(LayerTrace, BadTimes) {
  EXPECT_EQ(layersFailure(rows("a,1KB,1ms,1ms\nb,1KB,nan ms,1ms\n")),
            "t.csv:3:forward: expected a time that is finite, got 'nan ms'");
  EXPECT_EQ(layersFailure(rows("a,1KB,1ms,-2ms\n")),
            "t.csv:2:backward: expected a time of zero or more, got '-2ms'");
  EXPECT_EQ(layersFailure(rows("a,1KB,inf s,2ms\n")),
            "t.csv:2:forward: expected a time that is finite, got 'inf s'");
}

// A bare number, an unknown unit and an empty cell are refused in their cell.
TEST(LayerTrace, BadUnits) {
  EXPECT_EQ(layersFailure(rows("a,1024,1ms,1ms\n")),
            "t.csv:2:bytes: expected a size with a unit such as '25MiB', got '1024'");
  EXPECT_EQ(layersFailure(rows("a,1KB,1.5,1ms\n")),
            "t.csv:2:forward: expected a time with a unit such as '1.5ms', got '1.5'");
  EXPECT_NE(layersFailure(rows("a,1KB,1 sec,1ms\n")).find("t.csv:2:forward: unknown unit 'sec'"),
            std::string::npos);
  EXPECT_EQ(layersFailure(rows("a,1KB,,1ms\n")),
            "t.csv:2:forward: expected a time with a unit such as '1.5ms', got nothing");
  EXPECT_NE(layersFailure(rows("a,-1KB,1ms,1ms\n"))
                .find("t.csv:2:bytes: expected a size of zero or more"),
            std::string::npos);
}

// Names are there and unique.
TEST(LayerTrace, Names) {
  EXPECT_EQ(layersFailure(rows("a,1KB,1ms,1ms\nb,1KB,1ms,1ms\na,2KB,1ms,1ms\n")),
            "t.csv:4:name: expected unique names, got 'a' again (first in line 2)");
  EXPECT_EQ(layersFailure(rows(",1KB,1ms,1ms\n")), "t.csv:2:name: expected a name, got nothing");
}

// A trace without layers is refused.
TEST(LayerTrace, Empty) {
  EXPECT_EQ(layersFailure(""), "t.csv: expected a layer trace, got an empty file");
  EXPECT_EQ(layersFailure("\n\n"), "t.csv: expected a layer trace, got an empty file");
  EXPECT_EQ(layersFailure("name,bytes,forward,backward\n"),
            "t.csv: expected at least one layer, got none");
}

// The header is fixed: columns are not guessed.
TEST(LayerTrace, Header) {
  EXPECT_EQ(layersFailure("a,1KB,1ms,1ms\n"), "t.csv:1: expected the header "
                                              "'name,bytes,forward,backward[,M,N,K[,update[,gather,"
                                              "gathered,reconstruct,carrier]]][,reader]', got "
                                              "'a,1KB,1ms,1ms'");
  EXPECT_NE(layersFailure("name,bytes,forward,backward,M\n").find("expected the header"),
            std::string::npos);
}

// What is gathered in place of a gradient is read and written.
TEST(LayerTrace, Gathered) {
  const std::string header =
      "name,bytes,forward,backward,M,N,K,update,gather,gathered,reconstruct,carrier\n";
  const std::string bias = "fc.bias,8B,0 s,0 s,,,,,,,1.00000000 us,fc\n";
  const std::string text = header + bias + "fc,32B,0 s,1.00000000 ms,4,2,3,,factors,72B,,\n";
  Result<LayerTrace> trace = parseLayerTrace(text, "t.csv");
  ASSERT_TRUE(bool(trace)) << trace.status().message();
  EXPECT_EQ(trace->layers[0].carrier, "fc");
  EXPECT_EQ(trace->layers[0].reconstruct, 1e-6);
  ASSERT_TRUE(trace->layers[1].gathered);
  EXPECT_EQ(trace->layers[1].gathered->scheme, Scheme::factors);
  EXPECT_EQ(trace->layers[1].gathered->bytes, 72);
  EXPECT_TRUE(trace->isOfStep);
  EXPECT_EQ(formatLayerTrace(*trace), text);
  EXPECT_EQ(layersFailure(header + bias),
            "t.csv:2:carrier: expected another layer that is gathered, got 'fc'");
  EXPECT_EQ(layersFailure(header + bias + "fc,32B,0s,1ms,4,2,3,,,,,\n"),
            "t.csv:2:carrier: expected another layer that is gathered, got 'fc'");
  EXPECT_EQ(layersFailure(header + "fc,32B,0s,1ms,4,2,3,,ring,72B,,\n"),
            "t.csv:2:gather: expected factors or sparse, got 'ring'");
  EXPECT_EQ(layersFailure(header + "fc,32B,0s,1ms,4,2,3,,,72B,,\n"),
            "t.csv:2:gather: expected factors or sparse, got ''");
  EXPECT_EQ(layersFailure(header + "fc,32B,0s,1ms,4,2,3,,sparse,0B,,\n"),
            "t.csv:2:gathered: expected at least 1 byte, got 0");
  EXPECT_EQ(layersFailure(header + "fc,32B,0s,1ms,4,2,3,,factors,72B,,fc\n"),
            "t.csv:2:carrier: expected another layer that is gathered, got 'fc'");
  EXPECT_EQ(layersFailure(header + "fc,0B,0s,1ms,,,,,factors,72B,,\n"),
            "t.csv:2:bytes: expected a gradient where one is gathered, got 0 B");
  EXPECT_EQ(layersFailure(header + "fc,32B,0s,1ms,4,2,3,,,,1us,\n"),
            "t.csv:2:reconstruct: expected nothing for a gradient that is not gathered");
}

// A parameter's first reader is another layer, behind any other columns.
TEST(LayerTrace, Readers) {
  const std::string rows = "w,8B,0 s,1.00000000 ms,,,,,fc\nfc,0B,2.00000000 ms,0 s,,,,,\n";
  const std::string text = "name,bytes,forward,backward,M,N,K,update,reader\n" + rows;
  Result<LayerTrace> trace = parseLayerTrace(text, "t.csv");
  ASSERT_TRUE(bool(trace)) << trace.status().message();
  EXPECT_EQ(trace->layers[0].reader, "fc");
  EXPECT_EQ(trace->layers[1].reader, "");
  EXPECT_FALSE(trace->isOfStep);
  EXPECT_EQ(formatLayerTrace(*trace), text);
  const std::string header = "name,bytes,forward,backward,reader\n";
  EXPECT_TRUE(bool(parseLayerTrace(header + "w,8B,0s,1ms,w\n", "t.csv")));
  EXPECT_EQ(layersFailure(header + "w,8B,0s,1ms,v\n"), "t.csv:2:reader: expected a layer, got 'v'");
  EXPECT_EQ(layersFailure(header + "w,8B,0s,1ms\n"), "t.csv:2: expected 5 cells, got 4");
  EXPECT_NE(layersFailure("reader\nw\n").find("expected the header"), std::string::npos);
}

// Rows have the header's cells.
TEST(LayerTrace, RowLength) {
  EXPECT_EQ(layersFailure(rows("a,1KB,1ms\n")), "t.csv:2: expected 4 cells, got 3");
  EXPECT_EQ(layersFailure(rows("# comment\n")), "t.csv:2: expected 4 cells, got 1");
}

// Factors come as three whole numbers or not at all.
TEST(LayerTrace, BadFactors) {
  const std::string head = "name,bytes,forward,backward,M,N,K\n";
  EXPECT_NE(layersFailure(head + "a,1KB,1ms,1ms,3,,2\n").find("t.csv:2:N: expected a whole number"),
            std::string::npos);
  EXPECT_NE(
      layersFailure(head + "a,1KB,1ms,1ms,3,4,0\n").find("t.csv:2:K: expected a whole number"),
      std::string::npos);
}

// The columns say that a trace is a step's, also where nothing is gathered.
TEST(LayerTrace, OfAStep) {
  LayerTrace trace{.layers = {{"norm", 12, 1e-3, 2e-3}}, .isOfStep = true};
  const Result<LayerTrace> read = parseLayerTrace(formatLayerTrace(trace), "t.csv");
  ASSERT_TRUE(read) << read.status().message();
  EXPECT_TRUE(read->isOfStep);
  trace.isOfStep = false;
  EXPECT_FALSE(parseLayerTrace(formatLayerTrace(trace), "t.csv")->isOfStep);
}

// What is written reads as it was, whatever stands in a name; no update is an empty cell.
TEST(LayerTrace, WrittenAndRead) {
  LayerTrace trace;
  trace.layers.push_back({"/conv, \"1\"", 12, 1.5e-3, 0, std::nullopt, 2e-6});
  trace.layers.push_back({" fc\nweight", 4096, 1.0 / 3, 2e-9, FactorShape{32, 32, 7}, 0});
  const std::string text = formatLayerTrace(trace);
  EXPECT_EQ(text.substr(0, text.find('\n')), "name,bytes,forward,backward,M,N,K,update");
  Result<LayerTrace> read = parseLayerTrace(text, "t.csv");
  ASSERT_TRUE(read) << read.status().message();
  ASSERT_EQ(read->layers.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read->layers[i].name, trace.layers[i].name);
    EXPECT_EQ(read->layers[i].bytes, trace.layers[i].bytes);
    EXPECT_NEAR(read->layers[i].forward, trace.layers[i].forward, 1e-8 * trace.layers[i].forward);
    EXPECT_NEAR(read->layers[i].backward, trace.layers[i].backward, 1e-17);
    EXPECT_NEAR(read->layers[i].update, trace.layers[i].update, 1e-15);
  }
  EXPECT_FALSE(read->layers[0].factors);
  ASSERT_TRUE(read->layers[1].factors);
  EXPECT_EQ(read->layers[1].factors->k, 7);
  EXPECT_EQ(layersFailure("name,bytes,forward,backward,M,N,K,update\na,1KB,1ms,1ms,,,,-1s\n"),
            "t.csv:2:update: expected a time of zero or more, got '-1s'");
}

// Quotes close, and nothing but a comma follows; a quoted line end counts as a line.
TEST(LayerTrace, Quotes) {
  EXPECT_EQ(layersFailure(rows("\"a,1KB,1ms,1ms\n")),
            "t.csv:2: expected a closing quote, got the end of the file");
  EXPECT_EQ(layersFailure(rows("\"a\"b,1KB,1ms,1ms\n")),
            "t.csv:2: expected a comma or the end of the line after a closing quote");
  EXPECT_EQ(layersFailure(rows("\"a\nb\",1KB,1ms,1ms\nc,1KB,1,1ms\n")).rfind("t.csv:4:forward:", 0),
            0u);
}

// Bytes that are no UTF-8 are refused before they reach a name.
TEST(LayerTrace, NotText) {
  EXPECT_EQ(layersFailure(rows("a\xFF,1KB,1ms,1ms\n")),
            "t.csv:2: expected UTF-8 text, got a byte of another kind");
}

// Gradients that do not sum to 63 bits are refused rather than wrapped.
TEST(LayerTrace, TotalBytes) {
  std::string text = rows("");
  for (int i = 0; i < 200; ++i)
    text += "l" + std::to_string(i) + ",8PiB,1ms,1ms\n";
  EXPECT_NE(layersFailure(text).find("at most 1 EiB of gradients"), std::string::npos);
}

} // namespace
} // namespace syncline::files
