# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""usage: echo.py server|client: an echo server on asyncio, and connections to it that run at the same time."""
import asyncio
import os
import sys

PLACE = os.environ["ADDRESS"], int(os.environ["PORT"])
CONNECTIONS = 8
SIZE = 1 << 20


async def echo(reader, writer):
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.close()


async def serve():
    server = await asyncio.start_server(echo, *PLACE)
    await server.serve_forever()


async def ask():
    reader, writer = await asyncio.open_connection(*PLACE)
    data = os.urandom(SIZE)
    sending = asyncio.create_task(send(writer, data))
    received = await reader.readexactly(SIZE)
    await sending
    writer.close()
    await writer.wait_closed()
    return received == data


async def send(writer, data):
    writer.write(data)
    await writer.drain()


async def ask_all():
    if all(await asyncio.gather(*(ask() for _ in range(CONNECTIONS)))):
        print("the same")


asyncio.run(serve() if sys.argv[1] == "server" else ask_all())
