"""The nodes of an exported model: which modules of the network they are, and what reads its
parameters."""

import dataclasses

from syncline.torch import layers


@dataclasses.dataclass(frozen=True)
class Node:
    name: str
    kind: str  # the operator
    inputs: list
    outputs: list


def names_read(node):
    """The values that a node reads, those of its inner graphs' nodes included."""
    inner = (graph for each in node.attribute for graph in (each.g, *each.graphs))
    return [
        *(name for name in node.input if name),
        *(name for graph in inner for each in graph.node for name in names_read(each)),
    ]


class Graph:
    """The file's nodes in order, its tensors and its outputs."""

    def __init__(self, file):
        import onnx

        graph = onnx.load(str(file), load_external_data=False).graph
        self.nodes = [
            Node(node.name, node.op_type, names_read(node), list(node.output))
            for node in graph.node
        ]
        self.outputs = [each.name for each in graph.output]
        self.tensors = [each.name for each in graph.initializer]

    def needed(self, outputs):
        """The names of all values that these outputs are computed from."""
        found = set(outputs)
        for node in reversed(self.nodes):
            if not found.isdisjoint(node.outputs):
                found.update(node.inputs)
        return found

    def readers(self):
        """The nodes that compute with each tensor, whatever shape it was given before."""
        # Values that are computed from tensors alone, and from which.
        known = {name: {name} for name in self.tensors}
        found = {name: [] for name in self.tensors}
        for node in self.nodes:
            if all(name in known for name in node.inputs):
                of = set().union(*(known[name] for name in node.inputs))
                known.update(dict.fromkeys(node.outputs, of))
                continue
            for tensor in set().union(*(known.get(name, ()) for name in node.inputs)):
                found[tensor].append(node)
        return found

    def blocks(self, model, times):
        """All nodes that have names, in blocks: (module, nodes). A block begins at a node that
        reads a parameter of another module than the block's. Where modules share the parameter, it
        is that of the module among them whose call comes next."""
        owners = owners_of(model, times.modules)
        reads = {}
        for tensor, readers in self.readers().items():
            for node in readers:
                reads.setdefault(node.name, set()).update(owners.get(tensor, ()))
        left, blocks = list(times.calls), []
        for node in self.nodes:
            if not node.name or node.kind == "Constant":
                continue
            found = reads.get(node.name)
            if found and not (blocks and blocks[-1][0] in found):
                called = next((path for path in left if path in found), min(found))
                if called in left:
                    left.remove(called)
                blocks.append((called, []))
            if not blocks:
                blocks.append((None, []))
            blocks[-1][1].append(node)
        if len(blocks) > 1 and blocks[0][0] is None:  # before the first module with parameters
            (_, nodes), (module, more) = blocks[:2]
            blocks[:2] = [(module, nodes + more)]
        return blocks


def owners_of(model, modules):
    """The modules among those that were called which compute with each parameter, by its name."""
    first = {id(each): name for name, each in model.named_parameters()}
    owners = {}
    for path, module in model.named_modules():
        caller = layers.caller_of(path, modules)
        for each in module.parameters(recurse=False):
            if caller in modules:
                owners.setdefault(first[id(each)], set()).add(caller)
    return owners
