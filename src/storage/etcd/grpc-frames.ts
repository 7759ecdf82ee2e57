// The frames of gRPC: a byte for compression, which is not used here, four for the length, and the message.

const prefixBytes = 5
/** Far more than etcd sends at once. */
const mostMessageBytes = 1 << 28

/** What goes before a message. */
export function messagePrefix(messageBytes: number): Buffer {
  const prefix = Buffer.alloc(prefixBytes)
  prefix.writeUInt32BE(messageBytes, 1)
  return prefix
}

/** Takes bytes as they arrive and hands on whole messages. */
export function createFrameReader(deliver: (message: Buffer) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = []
  let bytes = 0
  let wanted = prefixBytes

  return (chunk) => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes < wanted) return
    let rest = chunks.length === 1 ? chunk : Buffer.concat(chunks, bytes)
    for (wanted = frameBytes(rest); rest.length >= wanted; wanted = frameBytes(rest)) {
      const message = rest.subarray(prefixBytes, wanted)
      rest = rest.subarray(wanted)
      deliver(message)
    }
    chunks = rest.length > 0 ? [rest] : []
    bytes = rest.length
  }
}

function frameBytes(buffer: Buffer): number {
  if (buffer.length < prefixBytes) return prefixBytes
  if (buffer[0] !== 0) throw new RangeError('a compressed message was received')
  const messageBytes = buffer.readUInt32BE(1)
  if (messageBytes > mostMessageBytes) throw new RangeError(`a message of ${messageBytes} bytes was announced`)
  return prefixBytes + messageBytes
}
