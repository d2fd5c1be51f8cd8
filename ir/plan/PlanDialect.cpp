// Registers the plan dialect and verifies the rules of SPEC.md that concern one operation: P1 to
// P4, P6, P14, P21, P32, P33 and P36. The passes check-plan and check-runnable check the others.
#include "ir/plan/Plan.h"

#include "ir/cluster/Cluster.h"
#include "syncline/PlanConstants.h"
#include "syncline/RowsPart.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace syncline::plan;

/// Reads an enum that is printed as a keyword: `in arena`, not `in #plan.space<arena>`.
template <typename Attr, typename Enum>
static ParseResult parseKeyword(OpAsmParser &parser, Attr &attribute,
                                std::optional<Enum> (*fromName)(StringRef)) {
  StringRef name;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<Enum> value = fromName(name);
  if (!value)
    return parser.emitError(place) << "unknown name '" << name << "'";
  attribute = Attr::get(parser.getContext(), *value);
  return success();
}

static ParseResult parseSpace(OpAsmParser &parser, SpaceAttr &attribute) {
  return parseKeyword<SpaceAttr, Space>(parser, attribute, symbolizeSpace);
}
static void printSpace(OpAsmPrinter &printer, Operation *, SpaceAttr attribute) {
  printer << stringifySpace(attribute.getValue());
}
static ParseResult parsePhase(OpAsmParser &parser, PhaseAttr &attribute) {
  return parseKeyword<PhaseAttr, Phase>(parser, attribute, symbolizePhase);
}
static void printPhase(OpAsmPrinter &printer, Operation *, PhaseAttr attribute) {
  printer << stringifyPhase(attribute.getValue());
}
static ParseResult parseKernel(OpAsmParser &parser, KernelAttr &attribute) {
  return parseKeyword<KernelAttr, Kernel>(parser, attribute, symbolizeKernel);
}
static void printKernel(OpAsmPrinter &printer, Operation *, KernelAttr attribute) {
  printer << stringifyKernel(attribute.getValue());
}

static ParseResult parseSchemeName(OpAsmParser &parser, syncline::cluster::SchemeAttr &attribute) {
  FailureOr<syncline::Scheme> scheme = FieldParser<syncline::Scheme>::parse(parser);
  if (failed(scheme))
    return failure();
  attribute = syncline::cluster::SchemeAttr::get(parser.getContext(), *scheme);
  return success();
}
static void printSchemeName(OpAsmPrinter &printer, Operation *,
                            syncline::cluster::SchemeAttr name) {
  printer << name.getValue();
}

#include "ir/plan/PlanDialect.cpp.inc"
#include "ir/plan/PlanEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/plan/PlanAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "ir/plan/PlanOps.cpp.inc"

void PlanDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/plan/PlanAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/plan/PlanOps.cpp.inc"
      >();
}

LogicalResult PlanDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return op->emitError("unknown attribute '") << attribute.getName().getValue() << "'";
}

std::int64_t syncline::plan::denseBytes(ShapedType type) {
  return type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

bool syncline::plan::executes(Operation *op) {
  return isa<CallOp, PointwiseOp, LossOp, IssueOp, GatherOp, AllGatherOp, WaitOp, UpdateOp>(op);
}

double syncline::plan::secondsOf(Operation *op) {
  const auto found =
      llvm::TypeSwitch<Operation *, std::optional<llvm::APFloat>>(op)
          .Case<CallOp, PointwiseOp, UpdateOp>([](auto timed) { return timed.getSeconds(); })
          .Default([](Operation *) { return std::nullopt; });
  return found ? found->convertToDouble() : 0;
}

llvm::StringRef syncline::plan::layerOf(Operation *op) {
  if (auto call = dyn_cast<CallOp>(op))
    return call.getLayer();
  auto loop = dyn_cast<PointwiseOp>(op);
  return loop ? loop.getLayer() : StringRef();
}

bool syncline::plan::travelsByFactors(BucketOp bucket) { return isGathered(bucket.getScheme()); }

bool syncline::plan::updatesItself(BucketOp bucket) {
  return bucket.getScheme() == Scheme::reduceScatter;
}

std::int64_t syncline::plan::exchangeBytes(ProgramOp program) {
  sync::ConsistencyAttr consistency = program.getConsistencyAttr();
  if (!consistency)
    return 0;
  const std::int64_t weights =
      program.getSpaces().getAs<IntegerAttr>(stringifySpace(Space::parameters)).getInt();
  std::int64_t longest = 0, shard = 0;
  for (auto exchange : program.getOps<ExchangeOp>())
    longest = std::max(longest, static_cast<std::int64_t>(exchange.getExtent()));
  if (!program.getServers())
    for (auto served : program.getOps<ShardOp>())
      shard = std::max(shard, static_cast<std::int64_t>(served.getExtent()));
  switch (consistency.getForm()) {
  case sync::ConsistencyForm::bsp:
  case sync::ConsistencyForm::local:
    return 0; // means are taken in place
  case sync::ConsistencyForm::diloco:
    return (double(consistency.getMomentum()) > 0 ? 2 : 1) * weights + longest;
  case sync::ConsistencyForm::ssp:
  case sync::ConsistencyForm::asp:
  case sync::ConsistencyForm::dssp:
    return 3 * weights + shard;
  case sync::ConsistencyForm::easgd:
    return (consistency.isServed() ? 2 : 3) * weights + shard;
  }
  llvm_unreachable("no form");
}

std::optional<double> syncline::plan::clipNormOf(ProgramOp program) {
  const std::optional<llvm::APFloat> norm = program.getClipNorm();
  return norm ? std::optional(norm->convertToDouble()) : std::nullopt;
}

std::int64_t syncline::plan::microBatchesOf(ProgramOp program) {
  return static_cast<std::int64_t>(program.getAccumulate().value_or(1));
}

std::int64_t syncline::plan::sumsBytes(ProgramOp program) {
  std::int64_t bytes = 0;
  if (microBatchesOf(program) > 1)
    for (auto bucket : program.getOps<BucketOp>())
      bytes += static_cast<std::int64_t>(bucket.getExtent());
  return bytes;
}

bool syncline::plan::isConstant(TensorOp tensor) {
  return tensor.getFixed() || isa_and_nonnull<ElementsAttr>(tensor.getInitAttr());
}

std::int64_t syncline::plan::storedBytes(TensorOp tensor) {
  auto type = cast<MemRefType>(tensor.getType());
  return tensor.getRounded() ? type.getNumElements() * roundedBytes : denseBytes(type);
}

StringRef syncline::plan::elementName(Type type) {
  if (type.isF32())
    return "f32";
  if (type.isF64())
    return "f64";
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  if (type.isInteger(64))
    return "i64";
  if (type.isInteger(32))
    return "i32";
  return type.isUnsignedInteger(8) ? "u8" : "";
}

LogicalResult ProgramOp::verify() {
  if (static_cast<std::int64_t>(getRanks()) < 1 || static_cast<std::int64_t>(getBatch()) < 1)
    return emitOpError("P1: expected at least one rank and a batch of at least 1");
  if (getServers() && static_cast<std::int64_t>(*getServers()) < 1)
    return emitOpError("P1: expected at least one server, or none named, got ")
           << static_cast<std::int64_t>(*getServers());
  if (getOverlap() && *getOverlap() != overlapStep)
    return emitOpError("P1: expected overlap 'step', or none named, got '") << *getOverlap() << "'";
  if (const std::optional<double> norm = clipNormOf(*this);
      norm && !(*norm >= leastClipNorm && *norm <= mostClipNorm))
    return emitOpError("P32: expected 'clip_norm' from 1e-30 to 1e30, got ") << *norm;
  if (const std::int64_t microBatches = microBatchesOf(*this);
      getAccumulate() && (microBatches < 2 || microBatches > mostMicroBatches))
    return emitOpError("P36: expected 'accumulate' from 2 to ")
           << mostMicroBatches << ", got " << microBatches;
  for (std::uint64_t i = 0; i <= getMaxEnumValForSpace(); ++i) {
    StringRef space = stringifySpace(static_cast<Space>(i));
    auto bytes = getSpaces().getAs<IntegerAttr>(space);
    if (!bytes || bytes.getInt() < 0)
      return emitOpError("P1: expected the size of space '") << space << "' in bytes";
  }
  return success();
}

/// Whether no extent is below 1 and their product is at most what the runtime can count.
static bool isCountable(MemRefType type) {
  constexpr std::int64_t most = std::int64_t{1} << 42;
  std::int64_t count = 1;
  for (std::int64_t extent : type.getShape()) {
    if (extent < 1 || extent > most / count)
      return false;
    count *= extent;
  }
  return true;
}

LogicalResult TensorOp::verify() {
  auto type = cast<MemRefType>(getType());
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() || type.getMemorySpace() ||
      !isCountable(type))
    return emitOpError("P2: expected a dense shape of extents from 1 on, of at most 2^42 elements, "
                       "got ")
           << type;
  auto offset = static_cast<std::int64_t>(getOffset()),
       reserve = static_cast<std::int64_t>(getReserve());
  if (offset < 0 || offset % alignment != 0)
    return emitOpError("P2: expected an offset that is a multiple of ")
           << alignment << ", got " << offset;
  if (elementName(type.getElementType()).empty())
    return emitOpError("P2: expected elements of f32, f64, f16, bf16, i64, i32 or ui8, got ")
           << type.getElementType();
  if (getRounded() && (getSpace() != Space::arena || !type.getElementType().isF32()))
    return emitOpError("P33: expected a rounded tensor in the arena, with elements of f32");
  if (std::int64_t dense = storedBytes(*this); reserve < dense)
    return emitOpError("P2: expected at least ") << dense << " reserved bytes, got " << reserve;
  auto program = (*this)->getParentOfType<ProgramOp>();
  auto size =
      program ? program.getSpaces().getAs<IntegerAttr>(stringifySpace(getSpace())) : IntegerAttr();
  if (size && reserve > size.getInt() - offset) // which does not overflow
    return emitOpError("P2: reserves ")
           << reserve << " bytes at " << offset << " of a space of " << size.getInt();
  if ((getSpace() == Space::arena) != getLive().has_value())
    return emitOpError("P3: an arena tensor has a lifetime, and no other");
  if (getLive() && (getLive()->size() != 2 || (*getLive())[0] > (*getLive())[1]))
    return emitOpError("P3: expected a lifetime [first, last]");
  bool bucketed = getSpace() == Space::parameters || getSpace() == Space::gradients;
  if (bucketed != getBucket().has_value())
    return emitOpError("P4: parameters and gradients have a bucket, and no other tensor");
  return success();
}

LogicalResult BucketOp::verify() {
  const bool isRows =
      getMembers().size() == 1 && isRowsPart(cast<StringAttr>(getMembers()[0]).getValue());
  if (getMembers().empty() || static_cast<std::int64_t>(getBytes()) < 0 ||
      (getExtent() < getBytes() && !isRows) || getOffset() % alignment != 0)
    return emitOpError(
        "P4: expected members, an aligned offset and an extent of at least their bytes");
  const bool gathersRows = hasRows(getScheme());
  if (getRows().has_value() != gathersRows ||
      (gathersRows && static_cast<std::int64_t>(*getRows()) < 1))
    return emitOpError("P34: expected 'rows', the rows of a rank, exactly if it travels by '")
           << listOf(schemesWhere<hasRows>) << "'";
  if (getChannel() >= maxChannels)
    return emitOpError("P4: expected a channel from 0 to ")
           << maxChannels - 1 << ", got " << static_cast<std::int64_t>(getChannel());
  return success();
}

LogicalResult GatherOp::verify() {
  if (getIns().empty() || getIns().size() != getOuts().size())
    return emitOpError("P14: expected one result an operand, got ")
           << getOuts().size() << " for " << getIns().size();
  const auto ranks = static_cast<std::int64_t>(cast<ProgramOp>((*this)->getParentOp()).getRanks());
  for (auto [in, out] : llvm::zip(getIns(), getOuts())) {
    auto from = cast<MemRefType>(in.getType()), to = cast<MemRefType>(out.getType());
    if (from.getRank() < 1)
      return emitOpError("P14: expected a first dimension to gather along, got ") << from;
    llvm::SmallVector<std::int64_t> shape(from.getShape());
    shape[0] *= ranks;
    if (auto all = MemRefType::get(shape, from.getElementType()); to != all)
      return emitOpError("P14: expected ")
             << all << " for " << ranks << " ranks' " << from << ", got " << to;
  }
  return success();
}

/// P21: the predicted seconds of an operation are finite and not negative.
static LogicalResult verifySeconds(Operation *op, FloatAttr seconds) {
  if (seconds && (!std::isfinite(seconds.getValueAsDouble()) || seconds.getValueAsDouble() < 0))
    return op->emitOpError("P21: expected finite seconds that are not negative, got ") << seconds;
  return success();
}

LogicalResult UpdateOp::verify() { return verifySeconds(*this, getSecondsAttr()); }

LogicalResult CallOp::verify() {
  if (getRoles().size() != getIns().size() + getOuts().size())
    return emitOpError("P6: expected one role an operand, got ")
           << getRoles().size() << " for " << getIns().size() + getOuts().size();
  return verifySeconds(*this, getSecondsAttr());
}

LogicalResult PointwiseOp::verify() {
  Block &body = getBody().front();
  if (getOuts().empty() || body.getNumArguments() != getIns().size() ||
      body.getTerminator()->getNumOperands() != getOuts().size())
    return emitOpError("P6: expected one body argument an operand and one yielded value a result");
  ArrayRef<std::int64_t> shape = cast<MemRefType>(getOuts()[0].getType()).getShape();
  for (Value operand : getOperands())
    if (getFlat() && cast<MemRefType>(operand.getType()).getShape() != shape)
      return emitOpError("P6: operands of a flat loop have one shape, got ")
             << operand.getType() << " beside " << getOuts()[0].getType();
  return verifySeconds(*this, getSecondsAttr());
}
