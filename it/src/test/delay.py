#!/usr/bin/env python3
"""Passes on the packets that are routed to a device of its own, each as much later as it was told: delay.py DEVICE MILLIS.

For kernels without tc's netem. The device is a tunnel without another end: whoever routes packets to it gets the same
packets from it later. Reads MILLIS anew from standard input, a line each.
"""
import collections, fcntl, os, struct, sys, threading, time

TUNSETIFF, TUN, WITHOUT_HEADER = 0x400454CA, 0x0001, 0x1000

device, seconds = sys.argv[1], float(sys.argv[2]) / 1000
tunnel = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tunnel, TUNSETIFF, struct.pack("16sH", device.encode(), TUN | WITHOUT_HEADER))
waiting = collections.deque()
arrived = threading.Semaphore(0)


def pass_on():
    while True:
        arrived.acquire()
        due, packet = waiting.popleft()
        left = due - time.monotonic()
        if left > 0:
            time.sleep(left)
        os.write(tunnel, packet)


def take():
    while True:
        packet = os.read(tunnel, 65536)
        waiting.append((time.monotonic() + seconds, packet))
        arrived.release()


for task in (pass_on, take):
    threading.Thread(target=task, daemon=True).start()
print("ready", flush=True)
for line in sys.stdin:
    seconds = float(line) / 1000
