// Functions in C that know the types of their parameters. CPython's own functions in C cannot: the text from
// which inspect.signature reads their parameters has no room for types, and nobody can set attributes of
// these functions. So bound functions get a type derived from CPython's, with the attributes that functions
// written in Python have: __signature__, __annotations__, __globals__, and a __qualname__ by which pickle
// finds them. All but the text of the signature is made when it is asked for.
#pragma once

#include <string>

#include "bindings/support/python.hpp"

namespace cuscope::bindings {

struct FunctionText {
    std::string qualified_name;  // "Stream.wait"
    std::string signature;       // "(what: Event | Stream, *, external: bool = False) -> None", without self
    bool method = false;         // it takes `self` first
    bool descriptor = false;     // set by add_types: a method that binds itself to its object
};

// Sets the type and the text of a function or a method descriptor.
void add_types(PyCFunctionObject* function, FunctionText text);
void add_types(PyMethodDescrObject* method, FunctionText text);
// inspect.signature of the class `type` becomes that of its constructor.
void show_constructor(const py::type& type, PyCFunctionObject* constructor);
void prepare_typed_functions();

}  // namespace cuscope::bindings
