// Bytes that come in parts, kept until all are there. Whoever sends a byte at a time must not make millions of parts of it: each of them takes
// hundreds of bytes of memory.

/** So many are kept as they came. */
const mostParts = 64
/** Room for the first of those that are copied. */
const leastRoom = 8192
/** To copy a few bytes one by one takes less than to call a function for it. */
const fewBytes = 8

export class GatheredParts {
  #parts: Buffer[] = []
  /** Where further ones are copied to; it doubles, so that a byte is copied twice at most on average. */
  #grown: Buffer | undefined
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  add(part: Buffer): void {
    const before = this.#bytes
    this.#bytes += part.length
    if (this.#grown === undefined && this.#parts.length < mostParts) {
      this.#parts.push(part)
      return
    }
    if (this.#grown === undefined || this.#bytes > this.#grown.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(leastRoom, 2 * this.#bytes))
      if (this.#grown !== undefined) this.#grown.copy(grown, 0, 0, before)
      else this.#copyParts(grown)
      this.#grown = grown
      this.#parts = []
    }
    if (part.length > fewBytes) part.copy(this.#grown, before)
    else for (let i = 0; i < part.length; i++) this.#grown[before + i] = part[i] as number
  }

  /** All of them in a row. What came at once is not copied. */
  whole(): Buffer {
    if (this.#grown !== undefined) return this.#grown.subarray(0, this.#bytes)
    return this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts, this.#bytes)
  }

  clear(): void {
    this.#parts = []
    this.#grown = undefined
    this.#bytes = 0
  }

  #copyParts(target: Buffer): void {
    let at = 0
    for (const part of this.#parts) at += part.copy(target, at)
  }
}
