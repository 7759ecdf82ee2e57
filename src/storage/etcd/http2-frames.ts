// The frames of HTTP/2: nine bytes that say how long, of what kind and for which stream, and then the content.

export const frameTypes = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const frameFlags = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 0x20 } as const

const frameHeaderBytes = 9
/** No side may send larger ones without having been allowed to, and nobody is asked for that. */
export const mostFrameBytes = 16_384

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly streamId: number
  /** A view, not a copy. */
  readonly content: Buffer
}

export function encodeFrame({ type, flags, streamId, content }: Frame): Buffer {
  return Buffer.concat([encodeFrameHeader({ type, flags, streamId, contentBytes: content.length }), content])
}

export interface FrameHeader {
  readonly type: number
  readonly flags: number
  readonly streamId: number
  readonly contentBytes: number
}

/** What goes before the content. */
export function encodeFrameHeader({ type, flags, streamId, contentBytes }: FrameHeader): Buffer {
  const header = Buffer.allocUnsafe(frameHeaderBytes)
  header.writeUIntBE(contentBytes, 0, 3)
  header[3] = type
  header[4] = flags
  header.writeUInt32BE(streamId, 5)
  return header
}

/** Takes bytes as they arrive and hands on whole frames. */
export function createFrameParser(deliver: (frame: Frame) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    const buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    while (buffer.length - at >= frameHeaderBytes) {
      const bytes = buffer.readUIntBE(at, 3)
      if (bytes > mostFrameBytes) throw new RangeError('the other side does not speak HTTP/2')
      const end = at + frameHeaderBytes + bytes
      if (buffer.length < end) break
      const streamId = buffer.readUInt32BE(at + 5) & 0x7fffffff
      const content = buffer.subarray(at + frameHeaderBytes, end)
      deliver({ type: buffer[at + 3] ?? 0, flags: buffer[at + 4] ?? 0, streamId, content })
      at = end
    }
    rest = buffer.subarray(at)
  }
}

/** The content without what was only added to hide its length, and without a priority. */
export function unpadded({ type, flags, content }: Frame): Buffer {
  const isPadded = (flags & frameFlags.padded) !== 0
  const start = Number(isPadded) + (type === frameTypes.headers && (flags & frameFlags.priority) !== 0 ? 5 : 0)
  const end = content.length - (isPadded ? (content[0] ?? 0) : 0)
  return start === 0 && !isPadded ? content : content.subarray(start, Math.max(start, end))
}
