// Collects the chunks of a body. Tiny chunks are copied into one buffer, because each Buffer has an overhead of about a hundred bytes.

/** Chunks that are kept as they are. */
const maxChunks = 64
const minBufferBytes = 8192
/** For fewer bytes a loop is faster than Buffer.copy. */
const minCopyBytes = 8

export class ChunkBuffer {
  #chunks: Buffer[] = []
  /** Doubles when full. */
  #buffer: Buffer | undefined
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  add(chunk: Buffer): void {
    const offset = this.#bytes
    this.#bytes += chunk.length
    if (this.#buffer === undefined && this.#chunks.length < maxChunks) {
      this.#chunks.push(chunk)
      return
    }
    if (this.#buffer === undefined || this.#bytes > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(minBufferBytes, 2 * this.#bytes))
      if (this.#buffer !== undefined) this.#buffer.copy(larger, 0, 0, offset)
      else this.#copyChunks(larger)
      this.#buffer = larger
      this.#chunks = []
    }
    if (chunk.length > minCopyBytes) chunk.copy(this.#buffer, offset)
    else for (let i = 0; i < chunk.length; i++) this.#buffer[offset + i] = chunk[i] as number
  }

  join(): Buffer {
    if (this.#buffer !== undefined) return this.#buffer.subarray(0, this.#bytes)
    return this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks, this.#bytes)
  }

  clear(): void {
    this.#chunks = []
    this.#buffer = undefined
    this.#bytes = 0
  }

  #copyChunks(target: Buffer): void {
    let offset = 0
    for (const chunk of this.#chunks) offset += chunk.copy(target, offset)
  }
}
