// The frames of gRPC: a byte for compression, which is not used here, four for the length, and the message.

import { GatheredParts } from '../../net/gathered-parts.js'

const prefixBytes = 5
/** Far more than etcd sends at once. */
const mostMessageBytes = 1 << 28
/** Every answer of etcd has a header. So many at once without one are meant to do harm. */
const mostEmpty = 64
const emptyBytes = 4

/** What goes before a message. */
export function messagePrefix(messageBytes: number): Buffer {
  const prefix = Buffer.alloc(prefixBytes)
  prefix.writeUInt32BE(messageBytes, 1)
  return prefix
}

/** Takes bytes as they arrive and hands on whole messages. */
export function createFrameReader(deliver: (message: Buffer) => void): (chunk: Buffer) => void {
  const parts = new GatheredParts()
  let wanted = prefixBytes

  return (chunk) => {
    if (chunk.length === 0) return
    parts.add(chunk)
    if (parts.bytes < wanted) return
    let rest = parts.whole()
    parts.clear()
    let empty = 0
    for (wanted = frameBytes(rest); rest.length >= wanted; wanted = frameBytes(rest)) {
      const message = rest.subarray(prefixBytes, wanted)
      rest = rest.subarray(wanted)
      if (message.length < emptyBytes && ++empty > mostEmpty) throw new RangeError('the server sends empty messages')
      deliver(message)
    }
    if (rest.length > 0) parts.add(rest)
  }
}

function frameBytes(buffer: Buffer): number {
  if (buffer.length < prefixBytes) return prefixBytes
  if (buffer[0] !== 0) throw new RangeError('a compressed message was received')
  const messageBytes = buffer.readUInt32BE(1)
  if (messageBytes > mostMessageBytes) throw new RangeError(`a message of ${messageBytes} bytes was announced`)
  return prefixBytes + messageBytes
}
