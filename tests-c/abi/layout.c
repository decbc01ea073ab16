/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints what is in layout_list.h as the compiler sees it. Compiled against two headers, the outputs must be equal.
 * The output is also Rust: a block of macro calls, which tests/ctypes_layout.rs includes.
 * HEADER and LIST may name another header, and a list of what it declares.
 */
#ifndef HEADER
#define HEADER <rdma/rdma_cma.h>
#define LIST "layout_list.h"
#endif
#include HEADER

#include <stddef.h>
#include <stdio.h>

#define TYPE(kind, name) printf("    size!(%s, %zu, %zu);\n", #name, sizeof(kind name), _Alignof(kind name));
#define FIELD_AS(kind, name, field, path, type)                                                   \
    printf("    field!(%s, %s, %zu, %zu);\n", #name, #path, offsetof(kind name, field),           \
           sizeof(((kind name *)NULL)->field));
#define FIELD(kind, name, field, type) FIELD_AS(kind, name, field, field, type)
#define VALUE(name)                                                                               \
    _Generic((name), int: print_int, unsigned long long: print_ull)(#name, name);

static inline void print_int(const char *name, int value)
{
    printf("    value!(%s, %d, int);\n", name, value);
}

static inline void print_ull(const char *name, unsigned long long value)
{
    printf("    value!(%s, %llu, unsigned_long_long);\n", name, value);
}

int main(void)
{
    puts("// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause");
    puts("// What tests-c/abi/layout.c prints on a 64-bit machine with the header of the distribution.");
    puts("{");
#include LIST
    puts("}");
    return 0;
}
