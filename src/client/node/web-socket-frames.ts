// The frames of WebSocket: what a client writes is masked, what a server writes is not, and messages may come in several frames.

import { randomFillSync } from 'node:crypto'
import { ProtocolError } from '../errors.js'
import { GrowingBytes } from '../growing-bytes.js'

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** What a message may hold, so that a server cannot fill our memory. */
const longestMessage = 64 * 1024 * 1024
/** As RFC 6455 has it. */
const longestControl = 125

export function writeFrame(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload
  const extra = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const frame = Buffer.allocUnsafe(6 + extra + length)
  frame[0] = 0x80 | opcode
  frame[1] = 0x80 | (extra === 0 ? length : extra === 2 ? 126 : 127)
  if (extra === 2) frame.writeUInt16BE(length, 2)
  else if (extra === 8) frame.writeBigUInt64BE(BigInt(length), 2)
  const mask = frame.subarray(2 + extra, 6 + extra)
  randomFillSync(mask)
  for (let i = 0; i < length; i++) frame[6 + extra + i] = (payload[i] as number) ^ (mask[i & 3] as number)
  return frame
}

export class FrameReader {
  private readonly onMessage: (opcode: number, payload: Uint8Array) => void
  private chunks: Buffer[] = []
  private size = 0
  private needed = 2
  /** The frames so far of a message that comes in several; their bytes alone are kept, however many frames there are. */
  private parts: GrowingBytes | undefined
  private partsOpcode: number = opcodes.binary

  constructor(onMessage: (opcode: number, payload: Uint8Array) => void) {
    this.onMessage = onMessage
  }

  feed(chunk: Buffer): void {
    this.chunks.push(chunk)
    this.size += chunk.length
    // Joined only when a whole frame may be there: a long one that comes in small pieces is not copied over and over.
    while (this.size >= this.needed) {
      const bytes = this.chunks.length === 1 ? (this.chunks[0] as Buffer) : Buffer.concat(this.chunks)
      const used = this.readFrame(bytes)
      const rest = bytes.subarray(used)
      this.chunks = rest.length === 0 ? [] : [rest]
      this.size = rest.length
    }
  }

  /** How many bytes it took: none where the frame is not whole, and then `needed` says how many it takes. */
  private readFrame(bytes: Buffer): number {
    const first = bytes[0] as number
    const second = bytes[1] as number
    if ((second & 0x80) !== 0) throw new ProtocolError('a frame of the server is masked')
    const short = second & 0x7f
    const start = short < 126 ? 2 : short === 126 ? 4 : 10
    if (bytes.length < start) return this.wait(start)
    const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
    if (length + (this.parts?.length ?? 0) > longestMessage) throw new ProtocolError('a message of the server is too long')
    if (bytes.length < start + length) return this.wait(start + length)
    this.needed = 2
    this.take({ opcode: first & 0x0f, isLast: (first & 0x80) !== 0, payload: bytes.subarray(start, start + length) })
    return start + length
  }

  private wait(needed: number): number {
    this.needed = needed
    return 0
  }

  private take({ opcode, isLast, payload }: { readonly opcode: number; readonly isLast: boolean; readonly payload: Buffer }): void {
    if (opcode >= opcodes.close) {
      if (payload.length > longestControl || !isLast) throw new ProtocolError('a control frame of the server is too long')
      this.onMessage(opcode, payload)
      return
    }
    if (opcode !== opcodes.continuation) this.partsOpcode = opcode
    if (isLast && this.parts === undefined) {
      this.onMessage(this.partsOpcode, payload)
      return
    }
    this.parts ??= new GrowingBytes(longestMessage + 1, 1024)
    this.parts.append(payload)
    if (!isLast) return
    const { bytes, length } = this.parts
    this.parts = undefined
    this.onMessage(this.partsOpcode, bytes.subarray(0, length))
  }
}
