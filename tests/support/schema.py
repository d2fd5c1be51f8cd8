"""Validates JSON against a schema: as much of JSON Schema (draft 7) as ours use. Any other
keyword is an error, so that a rule is never passed over in silence."""

import re

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}
SILENT = {"$schema", "title", "description", "definitions", "examples"}


def violations(value, schema, root=None, where="plan"):
    """What is wrong with `value`, one line each; empty where it follows `schema`."""
    root = schema if root is None else root
    found = []
    for keyword, rule in schema.items():
        if keyword not in SILENT:
            found += RULES[keyword](value, rule, schema, root, where)
    return found


def is_type(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, TYPES[name])


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def fails(condition, where, text):
    return [f"{where}: {text}"] if condition else []


def of_type(value, rule, schema, root, where):
    names = rule if isinstance(rule, list) else [rule]
    return fails(
        not any(is_type(value, name) for name in names),
        where,
        f"expected {rule}, got {value!r:.60}",
    )


def of_reference(value, rule, schema, root, where):
    target = root
    for part in rule.removeprefix("#/").split("/"):
        target = target[part]
    return violations(value, target, root, where)


def of_properties(value, rule, schema, root, where):
    if not isinstance(value, dict):
        return []
    return [
        line
        for key in value.keys() & rule.keys()
        for line in violations(value[key], rule[key], root, f"{where}.{key}")
    ]


def of_additional(value, rule, schema, root, where):
    extra = (
        sorted(value.keys() - schema.get("properties", {}).keys())
        if isinstance(value, dict)
        else []
    )
    if rule is False:
        return fails(extra, where, f"unexpected {extra}")
    return [line for key in extra for line in violations(value[key], rule, root, f"{where}.{key}")]


def of_required(value, rule, schema, root, where):
    missing = [key for key in rule if key not in value] if isinstance(value, dict) else []
    return fails(missing, where, f"missing {missing}")


def of_items(value, rule, schema, root, where):
    if not isinstance(value, list):
        return []
    if isinstance(rule, list):  # a schema for each
        return [
            line
            for i, (item, own) in enumerate(zip(value, rule))
            for line in violations(item, own, root, f"{where}[{i}]")
        ]
    return [
        line
        for i, item in enumerate(value)
        for line in violations(item, rule, root, f"{where}[{i}]")
    ]


def of_any(value, rule, schema, root, where):
    choices = [violations(value, choice, root, where) for choice in rule]
    return fails(all(choices), where, f"follows none of {len(rule)} choices: {choices}")


def of_dependencies(value, rule, schema, root, where):
    given = [key for key in rule if key in value] if isinstance(value, dict) else []
    return [
        line
        for key in given
        for line in fails(
            not set(rule[key]) <= value.keys(), where, f"expected {rule[key]} beside {key}"
        )
    ]


def of_one(value, rule, schema, root, where):
    matching = sum(not violations(value, choice, root, where) for choice in rule)
    return fails(matching != 1, where, f"follows {matching} of {len(rule)} choices, expected one")


RULES = {
    "type": of_type,
    "$ref": of_reference,
    "properties": of_properties,
    "additionalProperties": of_additional,
    "required": of_required,
    "items": of_items,
    "oneOf": of_one,
    "anyOf": of_any,
    "allOf": lambda v, rule, s, r, where: [
        line for each in rule for line in violations(v, each, r, where)
    ],
    "dependencies": of_dependencies,
    "enum": lambda v, rule, s, r, where: fails(
        v not in rule, where, f"expected one of {rule}, got {v!r:.60}"
    ),
    "const": lambda v, rule, s, r, where: fails(
        v != rule, where, f"expected {rule!r}, got {v!r:.60}"
    ),
    "minimum": lambda v, rule, s, r, where: fails(
        is_number(v) and v < rule, where, f"expected >= {rule}, got {v}"
    ),
    "maximum": lambda v, rule, s, r, where: fails(
        is_number(v) and v > rule, where, f"expected <= {rule}, got {v}"
    ),
    "exclusiveMinimum": lambda v, rule, s, r, where: fails(
        is_number(v) and v <= rule, where, f"expected > {rule}, got {v}"
    ),
    "minItems": lambda v, rule, s, r, where: fails(
        isinstance(v, list) and len(v) < rule, where, f"expected >= {rule} items"
    ),
    "maxItems": lambda v, rule, s, r, where: fails(
        isinstance(v, list) and len(v) > rule, where, f"expected <= {rule} items"
    ),
    "minLength": lambda v, rule, s, r, where: fails(
        isinstance(v, str) and len(v) < rule, where, f"expected >= {rule} characters"
    ),
    "minProperties": lambda v, rule, s, r, where: fails(
        isinstance(v, dict) and len(v) < rule, where, f"expected >= {rule} keys"
    ),
    "uniqueItems": lambda v, rule, s, r, where: fails(
        isinstance(v, list) and any(x in v[:i] for i, x in enumerate(v)),
        where,
        "expected no item twice",
    ),
    "pattern": lambda v, rule, s, r, where: fails(
        isinstance(v, str) and not re.search(rule, v), where, f"expected {rule}"
    ),
}
