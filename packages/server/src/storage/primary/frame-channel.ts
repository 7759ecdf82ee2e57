// Frames on the stream between the primary process and a worker process: length 4 · sequence number 4 · type 1 · payload.
// A frame out of sequence or above the limit ends the channel: the worker is then replaced.

import type { Duplex } from 'node:stream'

const headerBytes = 9
/** Larger than a batch of commits with its largest commit. */
const maxFrameBytes = 256 << 20
const maxSequence = 2 ** 32

interface FrameChannelOptions {
  readonly onFrame: (type: number, payload: Buffer) => void
  /** Called once. `reason` is undefined after `close`. */
  readonly onEnd: (reason: string | undefined) => void
}

export class FrameChannel {
  readonly #stream: Duplex
  readonly #options: FrameChannelOptions
  #chunks: Buffer[] = []
  #receivedBytes = 0
  #neededBytes = headerBytes
  #sent = 0
  #received = 0
  #isCorked = false
  #hasEnded = false

  constructor(stream: Duplex, options: FrameChannelOptions) {
    this.#stream = stream
    this.#options = options
    stream.on('data', (chunk: Buffer) => this.#receive(chunk))
    stream.once('error', (error: Error) => this.#end(error.message))
    stream.once('close', () => this.#end('the other process closed the channel'))
    stream.once('end', () => this.#end('the other process closed the channel'))
  }

  /** Bytes that the other process has not read yet. */
  get queuedBytes(): number {
    return this.#stream.writableLength
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Frames of one event-loop iteration are one write. */
  send(type: number, payload: Buffer): void {
    if (this.#hasEnded) return
    if (!this.#isCorked) {
      this.#isCorked = true
      this.#stream.cork()
      setImmediate(() => {
        this.#isCorked = false
        this.#stream.uncork()
      })
    }
    const header = Buffer.allocUnsafe(headerBytes)
    header.writeUInt32LE(payload.length, 0)
    header.writeUInt32LE(this.#sent, 4)
    header[8] = type
    this.#sent = (this.#sent + 1) % maxSequence
    this.#stream.write(header)
    if (payload.length > 0) this.#stream.write(payload)
  }

  pause(): void {
    this.#stream.pause()
  }

  resume(): void {
    if (!this.#hasEnded) this.#stream.resume()
  }

  close(): void {
    this.#end(undefined)
  }

  fail(reason: string): void {
    this.#end(reason)
  }

  #receive(chunk: Buffer): void {
    if (this.#hasEnded) return
    this.#chunks.push(chunk)
    this.#receivedBytes += chunk.length
    // Chunks are joined once for each frame, not for each chunk.
    if (this.#receivedBytes >= this.#neededBytes) this.#parse()
  }

  #parse(): void {
    const [first] = this.#chunks
    let bytes = first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks)
    this.#neededBytes = headerBytes
    while (bytes.length >= headerBytes && !this.#hasEnded) {
      const length = bytes.readUInt32LE(0)
      if (length > maxFrameBytes) this.#end(`a frame of ${length} bytes is above the limit`)
      this.#neededBytes = headerBytes + length
      if (bytes.length < this.#neededBytes) break
      if (bytes.readUInt32LE(4) !== this.#received) this.#end('a frame is out of sequence')
      if (this.#hasEnded) return
      this.#received = (this.#received + 1) % maxSequence
      const payload = bytes.subarray(headerBytes, this.#neededBytes)
      const type = bytes[8] as number
      bytes = bytes.subarray(this.#neededBytes)
      this.#neededBytes = headerBytes
      try {
        this.#options.onFrame(type, payload)
      } catch (error) {
        this.#end(error instanceof Error ? error.message : String(error))
        return
      }
    }
    this.#chunks = bytes.length === 0 ? [] : [bytes]
    this.#receivedBytes = bytes.length
  }

  #end(reason: string | undefined): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#chunks = []
    this.#stream.on('error', () => undefined)
    // A graceful close sends what is queued.
    if (reason === undefined) this.#stream.end(() => this.#stream.destroy())
    else this.#stream.destroy()
    this.#options.onEnd(reason)
  }
}
