// Renames what a body defines, and what its own subgraphs read of that.
#include "frontend/onnx/Inline.h"
#include "frontend/onnx/GraphIndex.h"
#include "frontend/onnx/Subgraphs.h"

#include "llvm/ADT/STLExtras.h"

#include "onnx/onnx_pb.h"
#include <google/protobuf/unknown_field_set.h>

using namespace syncline;
using namespace syncline::frontend;
using Names = Inliner::Names;

namespace {

void addNames(const onnx::NodeProto &node, llvm::StringSet<> &names) {
  for (const std::string &name : node.output())
    names.insert(name);
  names.insert(node.name());
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    const auto enter = [&](const onnx::GraphProto &body) {
      forEachDefinition(body, [&](const std::string &name) { names.insert(name); });
      for (const onnx::NodeProto &inner : body.node())
        addNames(inner, names);
    };
    if (attribute.has_g())
      enter(attribute.g());
    llvm::for_each(attribute.graphs(), enter);
  }
}

llvm::StringSet<> allNames(const ModelFile &file) {
  llvm::StringSet<> names;
  for (const auto &tensor : file.initializers)
    names.insert(tensor->name());
  for (const onnx::ValueInfoProto &input : file.model->graph().input())
    names.insert(input.name());
  for (const onnx::NodeProto &node : file.model->graph().node())
    addNames(node, names);
  return names;
}

void rename(std::string &name, const Names &names) {
  if (const auto place = names.find(name); place != names.end())
    name = place->second;
}

/// Gives what the body, and bodies in it, define another name where it has one of `taken`, which
/// the body reads from outside after a copy.
void makeDistinct(onnx::GraphProto &body, const llvm::StringSet<> &taken, Inliner &inliner) {
  Names own;
  forEachDefinition(body, [&](const std::string &name) {
    if (taken.contains(name) && !own.count(name))
      own[name] = inliner.freshName(name);
  });
  for (auto *list : {body.mutable_input(), body.mutable_output()})
    for (onnx::ValueInfoProto &value : *list)
      rename(*value.mutable_name(), own);
  for (onnx::TensorProto &tensor : *body.mutable_initializer())
    rename(*tensor.mutable_name(), own);
  for (onnx::NodeProto &node : *body.mutable_node()) {
    for (auto *list : {node.mutable_input(), node.mutable_output()})
      for (std::string &name : *list)
        rename(name, own);
    forEachSubgraph(node, [&](onnx::GraphProto &inner) {
      forEachFreeRead(inner, {}, [&](std::string &name) { rename(name, own); });
      makeDistinct(inner, taken, inliner);
    });
  }
}

/// The node reads and makes what `names` calls its operands and results.
void renameAll(onnx::NodeProto &node, const Names &names, Inliner &inliner) {
  for (auto *list : {node.mutable_input(), node.mutable_output()})
    for (std::string &name : *list)
      rename(name, names);
  forEachSubgraph(node, [&](onnx::GraphProto &body) {
    llvm::StringSet<> taken;
    forEachFreeRead(body, {}, [&](const std::string &name) {
      if (const auto place = names.find(name); place != names.end())
        taken.insert(place->second);
    });
    makeDistinct(body, taken, inliner);
    forEachFreeRead(body, {}, [&](std::string &name) { rename(name, names); });
  });
}

onnx::NodeProto identity(const std::string &from, const std::string &to) {
  onnx::NodeProto node;
  node.set_op_type("Identity");
  node.add_input(from);
  node.add_output(to);
  return node;
}

std::string scopeOf(const onnx::NodeProto &node) {
  return node.name().empty() ? node.op_type() : node.name();
}

} // namespace

std::string Inliner::freshName(const std::string &name) {
  if (file.names.empty())
    file.names = allNames(file);
  std::string fresh = name;
  while (!file.names.insert(fresh).second)
    fresh = name + "_" + std::to_string(++file.repeated[name]);
  return fresh;
}

Result<int> Inliner::append(onnx::NodeProto node) {
  onnx::GraphProto &graph = *file.model->mutable_graph();
  for (const onnx::AttributeProto &attribute : node.attribute())
    file.copiedBytes += attribute.ByteSizeLong();
  if (graph.node_size() - file.ownNodes >= mostCopiedNodes || file.copiedBytes > mostCopiedBytes)
    return Status::badInput("its functions, branches and loops have more than " +
                            std::to_string(mostCopiedNodes) + " nodes, or " +
                            std::to_string(mostCopiedBytes >> 20) +
                            " MiB, when they are written "
                            "out");
  *graph.add_node() = std::move(node);
  return graph.node_size() - 1;
}

namespace {

// Fields of newer files than the installed library knows.
constexpr int overloadOfNode = 8, defaultsOfFunction = 11, overloadOfFunction = 13;

/// Calls `visit` for the field's values.
template <typename Message, typename Visit>
void forEachUnknown(const Message &message, int number, Visit visit) {
  const auto &fields = message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < fields.field_count(); ++i)
    if (fields.field(i).number() == number &&
        fields.field(i).type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      visit(fields.field(i).length_delimited());
}

/// The attributes that calls of the function may leave out.
std::vector<onnx::AttributeProto> defaultsOf(const onnx::FunctionProto &function) {
  std::vector<onnx::AttributeProto> defaults;
  forEachUnknown(function, defaultsOfFunction, [&](const std::string &bytes) {
    if (onnx::AttributeProto attribute; attribute.ParseFromString(bytes))
      defaults.push_back(std::move(attribute));
  });
  return defaults;
}

/// Writes out calls of functions, and calls within them.
class Calls {
public:
  explicit Calls(ModelFile &file) : file(file), inliner(file) {
    for (const onnx::FunctionProto &function : file.model->functions())
      functions[key(function.domain(), function.name(), function, overloadOfFunction)] = &function;
  }

  bool isCall(const onnx::NodeProto &node) const { return find(node) != nullptr; }

  /// Appends the called function's nodes, which stand at `order` of the file.
  Status expand(const onnx::NodeProto &call, std::int64_t order, int depth) {
    const onnx::FunctionProto &function = *find(call);
    if (depth == deepestCall || ++count > mostCopiedNodes)
      return Status::badInput(describeNode(call) + ": functions call each other more than " +
                              std::to_string(deepestCall) + " deep, or without an end");
    SYNCLINE_TRY(checkCall(call, function));
    const std::string scope = scopeOf(call);
    Names names;
    for (int i = 0; i < function.input_size(); ++i)
      names[function.input(i)] = i < call.input_size() ? call.input(i) : std::string();
    const std::vector<onnx::AttributeProto> defaults = defaultsOf(function);
    std::vector<onnx::NodeProto> aliases;
    for (int i = 0; i < function.output_size() && i < call.output_size(); ++i)
      if (const std::string &name = call.output(i);
          !name.empty() && !names.try_emplace(function.output(i), name).second)
        aliases.push_back(identity(names[function.output(i)], name));
    for (const onnx::NodeProto &node : function.node())
      for (const std::string &name : node.output())
        if (!name.empty() && !names.count(name))
          names[name] = inliner.freshName(scope + "/" + name);
    for (const onnx::NodeProto &node : function.node()) {
      onnx::NodeProto copied = node;
      copied.set_name(scope + "/" + scopeOf(node));
      renameAll(copied, names, inliner);
      setAttributes(copied, call, defaults);
      SYNCLINE_TRY(isCall(copied) ? expand(copied, order, depth + 1)
                                  : append(std::move(copied), order));
    }
    for (onnx::NodeProto &alias : aliases)
      SYNCLINE_TRY(append(std::move(alias), order));
    return Status::ok();
  }

private:
  template <typename Message>
  static std::string key(const std::string &domain, const std::string &name, const Message &message,
                         int overloadField) {
    std::string key = domain + ":" + name;
    forEachUnknown(message, overloadField, [&](const std::string &text) { key += ":" + text; });
    return key;
  }

  /// Null for a node that calls no function, and for ONNX's own operators, which have rules.
  const onnx::FunctionProto *find(const onnx::NodeProto &node) const {
    const bool hasRule = isDefaultDomain(node.domain()) ||
                         (node.domain() == "com.microsoft" && node.op_type() == "RotaryEmbedding");
    return hasRule || functions.empty()
               ? nullptr
               : functions.lookup(key(node.domain(), node.op_type(), node, overloadOfNode));
  }

  Status checkCall(const onnx::NodeProto &call, const onnx::FunctionProto &function) const {
    if (call.input_size() > function.input_size() || call.output_size() > function.output_size())
      return Status::badInput(
          describeNode(call) + ": expected at most " + std::to_string(function.input_size()) +
          " operands and " + std::to_string(function.output_size()) + " results, got " +
          std::to_string(call.input_size()) + " and " + std::to_string(call.output_size()));
    for (const onnx::OperatorSetIdProto &set : function.opset_import())
      if (isDefaultDomain(set.domain()) && set.version() != file.opset)
        return Status::badInput("function '" + function.name() + "': expected operator set " +
                                std::to_string(file.opset) + ", as the model has, got " +
                                std::to_string(set.version()));
    return Status::ok();
  }

  /// Attributes that refer to the call's are those, or the function's defaults, or absent.
  static void setAttributes(onnx::NodeProto &node, const onnx::NodeProto &call,
                            const std::vector<onnx::AttributeProto> &defaults) {
    auto &list = *node.mutable_attribute();
    for (int i = list.size() - 1; i >= 0; --i) {
      const std::string from = list[i].ref_attr_name();
      if (from.empty())
        continue;
      const auto isNamed = [&](const onnx::AttributeProto &it) { return it.name() == from; };
      const std::string name = list[i].name();
      if (auto given = llvm::find_if(call.attribute(), isNamed); given != call.attribute().end()) {
        list[i] = *given;
      } else if (auto preset = llvm::find_if(defaults, isNamed); preset != defaults.end()) {
        list[i] = *preset;
      } else {
        list.DeleteSubrange(i, 1);
        continue;
      }
      list[i].set_name(name);
    }
    forEachSubgraph(node, [&](onnx::GraphProto &body) {
      for (onnx::NodeProto &inner : *body.mutable_node())
        setAttributes(inner, call, defaults);
    });
  }

  Status append(onnx::NodeProto node, std::int64_t order) {
    SYNCLINE_TRY_GET(place, inliner.append(std::move(node)));
    file.orders.resize(*place + 1, order);
    return Status::ok();
  }

  ModelFile &file;
  Inliner inliner;
  llvm::StringMap<const onnx::FunctionProto *> functions;
  int count = 0;
};

} // namespace

Result<std::vector<int>> Inliner::copy(const onnx::GraphProto &body, const std::string &scope,
                                       Names &names) {
  llvm::StringSet<> needed;
  for (const onnx::ValueInfoProto &output : body.output())
    needed.insert(output.name());
  std::vector<const onnx::NodeProto *> kept;
  for (const onnx::NodeProto &node : llvm::reverse(body.node())) {
    const auto isNew = [&](const std::string &name) {
      return needed.contains(name) && !names.count(name);
    };
    if (!llvm::any_of(node.output(), isNew))
      continue;
    kept.push_back(&node);
    for (const std::string &name : node.input())
      needed.insert(name);
    forEachCapture(node, [&](const std::string &name) { needed.insert(name); });
  }
  Calls calls(file);
  std::vector<int> places;
  for (const onnx::TensorProto &tensor : body.initializer()) {
    if (!needed.contains(tensor.name()) || names.count(tensor.name()))
      continue;
    onnx::NodeProto constant;
    constant.set_op_type("Constant");
    constant.set_name(freshName(scope + "/" + tensor.name()));
    constant.add_output(names[tensor.name()] = constant.name());
    onnx::AttributeProto &value = *constant.add_attribute();
    value.set_name("value");
    value.set_type(onnx::AttributeProto::TENSOR);
    *value.mutable_t() = tensor;
    SYNCLINE_TRY_GET(place, append(std::move(constant)));
    places.push_back(*place);
  }
  llvm::StringSet<> defined;
  for (const onnx::NodeProto *node : llvm::reverse(kept)) {
    if (isDefaultDomain(node->domain()) && node->op_type() == "BatchNormalization")
      return Status::badInput("its body has a BatchNormalization, '" + node->name() +
                              "', whose statistics could not be kept; expected it in the graph "
                              "itself");
    for (const std::string &name : node->output())
      if (!name.empty()) {
        if (!defined.insert(name).second)
          return Status::badInput("its body defines '" + name + "' twice");
        names[name] = freshName(scope + "/" + name);
      }
    onnx::NodeProto copied = *node;
    renameAll(copied, names, *this);
    copied.set_name(scope + "/" + scopeOf(*node));
    const int first = file.model->graph().node_size();
    SYNCLINE_TRY(calls.isCall(copied) ? calls.expand(copied, 0, 0)
                                      : append(std::move(copied)).status());
    for (int place = first; place < file.model->graph().node_size(); ++place)
      places.push_back(place);
  }
  return places;
}

Status frontend::inlineFunctions(ModelFile &file) {
  if (file.model->functions_size() == 0)
    return Status::ok();
  Calls calls(file);
  for (int i = 0; i < file.ownNodes; ++i) {
    if (!calls.isCall(file.model->graph().node(i)))
      continue;
    file.isCall[i] = true;
    SYNCLINE_TRY(calls.expand(file.model->graph().node(i), i, 0));
  }
  return Status::ok();
}
