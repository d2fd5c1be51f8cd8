// What StepBuilders of all backends do alike: declarations, one operation after the other with its
// commands, operations on buckets, the first error.
#pragma once

#include "runtime/core/OperandChecks.h"
#include "runtime/core/StepTable.h"

#include <exception>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace syncline {

/// A backend derives from it, includes StepOperations.inc and defines each operation by prepare().
///
/// Program: the step that is built, with `table` (StepTable), `commands` (by operation, whatever a
/// command is), declare(const StepTensor &), called once for each tensor, and resetScratch(). It
/// outlives the builder. Preparation: made from a Program and an OperationInfo for one operation,
/// whose commands finish() gives.
template <typename Program, typename Preparation> class OperationBuilder : public StepBuilder {
public:
  Tensor tensor(const TensorInfo &info) final {
    const Tensor declared = program.table.declare(info);
    if (declared.isValid())
      program.declare(program.table.of(declared));
    return declared;
  }
  void bucket(const BucketInfo &info) final { program.table.declareBucket(info); }
  void phase(std::string_view name) final { program.table.setPhase(name); }

  void issue(int bucket) final { append("issue", OperationKind::issue, bucket); }
  void wait(int bucket) final {
    append("wait", OperationKind::wait, bucket);
    changed(bucket);
  }
  void update(int bucket) final {
    append("update", OperationKind::update, bucket);
    changed(bucket);
  }
  void gather(int bucket, std::span<const Tensor> ins, std::span<const Tensor> outs) final {
    if (!program.table.appendBucketOperation("gather", OperationKind::gather, bucket))
      return;
    prepareLast("bucket " + std::to_string(bucket) + ": gather", [&](Preparation &p) {
      if (ins.size() != outs.size() || ins.empty())
        p.fail("expected as many results as operands, at least one");
      std::vector<GatherPart> parts;
      for (std::size_t i = 0; i < ins.size(); ++i) {
        checkGathered(p, ins[i], outs[i], program.options.ranks);
        parts.push_back(gatherOne(p, ins[i], outs[i]));
      }
      program.table.operations.back().gathered = std::move(parts);
    });
  }

protected:
  explicit OperationBuilder(Program &program) : program(program) {}

  /// Appends a compute operation: runs the preparation, keeps its commands; what goes wrong becomes
  /// the sticky error, with the operation's and the layer's name.
  void prepare(std::string_view name, std::string_view layer,
               const std::function<void(Preparation &)> &body) {
    if (program.table.hasFailed())
      return;
    program.table.append(name, layer, OperationKind::compute);
    prepareLast("layer '" + std::string(layer) + "': " + std::string(name), body);
  }

  /// Parameters and gradients of the bucket may have other values from here on.
  virtual void changed(int) {}
  /// Runs `one`, the preparation of an operation. What libraries throw becomes a PreparationError;
  /// a std::exception may pass.
  virtual void attempt(const std::function<void()> &one) = 0;
  /// Appends the copy of `in` into this rank's part of `out`; what a channel has to gather.
  virtual GatherPart gatherOne(Preparation &p, Tensor in, Tensor out) = 0;

  Program &program;

private:
  void append(std::string_view name, OperationKind kind, int bucket) {
    if (program.table.appendBucketOperation(name, kind, bucket))
      program.commands.emplace_back();
  }

  /// Prepares the operation that is appended already; `where` begins its error.
  void prepareLast(const std::string &where, const std::function<void(Preparation &)> &body) {
    StepTable &table = program.table;
    program.resetScratch();
    try {
      attempt([&] {
        Preparation preparation(program, table.operations.back());
        body(preparation);
        program.commands.push_back(preparation.finish());
      });
    } catch (const PreparationError &error) {
      table.fail(error.kind, where + ": " + error.message);
    } catch (const std::bad_alloc &) {
      table.fail(ErrorKind::badInput, where + ": not enough memory on the host");
    } catch (const std::exception &error) {
      table.fail(ErrorKind::internal, where + ": " + error.what());
    }
  }
};

} // namespace syncline
