// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Every field has exactly the C type that layout_list.h states. Compiling is the test: a size cannot tell an enum from
// an int, nor one pointer from another, but a C++ application can. HEADER and LIST as for layout.c.
#ifndef HEADER
#define HEADER <rdma/rdma_cma.h>
#define LIST "layout_list.h"
#endif
#include HEADER

#include <type_traits>

#define TYPE(kind, name)
#define FIELD_AS(kind, name, field, path, c_type)                                                  \
    static_assert(std::is_same_v<std::add_lvalue_reference_t<c_type>,                              \
                                 decltype((static_cast<kind name *>(nullptr)->field))>,            \
                  #name "." #field " is not " #c_type);
#define FIELD(kind, name, field, c_type) FIELD_AS(kind, name, field, field, c_type)
#define VALUE(name)

#include LIST
