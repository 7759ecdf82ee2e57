// The frames of WebSocket as a server writes them, and as it reads them where it wants nothing of what they hold.

export const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** As RFC 6455 has it. */
const longestControl = 125
/** Whoever announces more than the reference takes is not listened to any longer. */
const longestFrame = 32 << 20

/** The beginning of a frame that is a whole message. What a server sends is not masked. */
export function frameHead(opcode: number, bytes: number): Buffer {
  const extra = bytes < 126 ? 0 : bytes < 65_536 ? 2 : 8
  const head = Buffer.allocUnsafe(2 + extra)
  head[0] = 0x80 | opcode
  head[1] = extra === 0 ? bytes : extra === 2 ? 126 : 127
  if (extra === 2) head.writeUInt16BE(bytes, 2)
  else if (extra === 8) head.writeBigUInt64BE(BigInt(bytes), 2)
  return head
}

export interface FrameListener {
  onPing(payload: Buffer): void
  onClose(): void
  /** Nothing is read behind that. */
  onBroken(why: 'protocolError' | 'tooLong'): void
}

/** Holds no more of what a client sends than the head of a frame and the payload of one that is short and wanted. */
export class FrameSkimmer {
  readonly #listener: FrameListener
  /** Two bytes, a length of up to eight and the mask, and then the payload of a ping. */
  readonly #held = Buffer.alloc(14 + longestControl)
  #heldBytes = 0
  #passOver = 0
  #isOver = false

  constructor(listener: FrameListener) {
    this.#listener = listener
  }

  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length && !this.#isOver) {
      if (this.#passOver > 0) {
        const passed = Math.min(this.#passOver, chunk.length - at)
        this.#passOver -= passed
        at += passed
        continue
      }
      const taken = Math.min(this.#neededBytes() - this.#heldBytes, chunk.length - at)
      chunk.copy(this.#held, this.#heldBytes, at, at + taken)
      this.#heldBytes += taken
      at += taken
      if (this.#heldBytes === this.#neededBytes()) this.#readFrame()
    }
  }

  /** How many bytes the head has, with the payload where that is wanted; as much as is known of it. */
  #neededBytes(): number {
    // Whoever does not mask is not waited for.
    if (this.#heldBytes < 2 || ((this.#held[1] as number) & 0x80) === 0) return 2
    const opcode = (this.#held[0] as number) & 0x0f
    const short = (this.#held[1] as number) & 0x7f
    const head = 2 + (short < 126 ? 0 : short === 126 ? 2 : 8) + 4
    return opcode === opcodes.ping && short <= longestControl ? head + short : head
  }

  #readFrame(): void {
    const [first, second] = [this.#held[0] as number, this.#held[1] as number]
    const opcode = first & 0x0f
    const isControl = opcode >= opcodes.close
    const short = second & 0x7f
    const isMasked = (second & 0x80) !== 0
    const isReserved = (first & 0x70) !== 0 || (opcode > opcodes.binary && opcode < opcodes.close) || opcode > opcodes.pong
    if (!isMasked || isReserved || (isControl && (short > longestControl || (first & 0x80) === 0))) {
      this.#break('protocolError')
      return
    }
    const length = short < 126 ? short : short === 126 ? this.#held.readUInt16BE(2) : Number(this.#held.readBigUInt64BE(2))
    this.#heldBytes = 0
    if (length > longestFrame) this.#break('tooLong')
    else if (opcode === opcodes.close) {
      this.#isOver = true
      this.#listener.onClose()
    } else if (opcode === opcodes.ping) this.#listener.onPing(this.#unmasked(short))
    else this.#passOver = length
  }

  #break(why: 'protocolError' | 'tooLong'): void {
    this.#isOver = true
    this.#listener.onBroken(why)
  }

  #unmasked(length: number): Buffer {
    const payload = Buffer.allocUnsafe(length)
    for (let i = 0; i < length; i++) payload[i] = (this.#held[6 + i] as number) ^ (this.#held[2 + (i & 3)] as number)
    return payload
  }
}
