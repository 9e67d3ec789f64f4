// SPDX-License-Identifier: Apache-2.0
// AMD's pseudo-code as a tree.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emu/isa/value.h"

namespace emu::isa {

enum class Kind : uint8_t {
  Literal,  // value
  Name,     // name
  View,     // first.type
  Index,    // first[second]
  Slice,    // first[second : third]
  Part,     // first[second +: third]
  Cast,     // width'type(first)
  Join,     // { first, second, ... }
  Call,     // name(...)
  Choice,   // first ? second : third
  Unary,    // name: - ! ~ +
  Binary,   // name: + - * ...
  Assign,   // first name second, name being = or += ...
  If,       // condition, block, condition, block, ..., [block]
  For,      // name, first, second, block
  Declare,  // name, width'type [count]
  Lambda,   // name, parameters, block
  Return,   // first
  Break,    //
  Block,    // statements
};

struct Node;
using Tree = std::unique_ptr<Node>;
struct Node {
  Kind kind;
  int symbol = -1;  // of `name`; see symbol_of
  std::string name;
  std::vector<Tree> kids;
  Value value;                  // Literal
  Base base = Base::Bits;       // View, Cast, Declare
  int width = 0, count = 0;     // the same; Declare: elements, 0 when no array
  bool hexadecimal = false;     // Literal
  std::vector<int> parameters;  // Lambda
};

/// Numbers for names, the same for the same name.
int symbol_of(const std::string& name);

/// Throws TextError with what was not understood.
Tree parse(const std::vector<std::string>& lines);

}  // namespace emu::isa
