# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A client of memcached, which is a program on libevent: stores values, and compares what it gets."""
import os
import socket

with socket.create_connection((os.environ["ADDRESS"], int(os.environ["PORT"]))) as connection:
    stream = connection.makefile("rb")
    for number in range(8):
        data = os.urandom(1000000)
        connection.sendall(b"set key%d 0 0 %d\r\n%b\r\n" % (number, len(data), data))
        assert stream.readline() == b"STORED\r\n"
        connection.sendall(b"get key%d\r\n" % number)
        assert stream.readline().startswith(b"VALUE")
        assert stream.read(len(data)) == data
        assert stream.readline() == b"\r\n" and stream.readline() == b"END\r\n"
print("the same")
