// Bytes that come in chunks, in one piece of memory that is used again: what was read makes room for what comes.

export class GrowingBytes {
  bytes: Uint8Array
  /** How many of them are there. */
  length = 0
  private readonly most: number

  /** `most`: how many there may be at a time. */
  constructor(most: number, size = 32 * 1024) {
    this.most = most
    this.bytes = new Uint8Array(size)
  }

  /** Leaves room for one more at the end. */
  append(chunk: Uint8Array): void {
    const needed = this.length + chunk.length + 1
    if (needed > this.most) throw new RangeError(`more than ${this.most} bytes belong together`)
    if (needed > this.bytes.length) {
      const larger = new Uint8Array(Math.min(this.most, Math.max(needed, this.bytes.length * 2)))
      larger.set(this.bytes.subarray(0, this.length))
      this.bytes = larger
    }
    this.bytes.set(chunk, this.length)
    this.length += chunk.length
  }

  /** The first so many have been read. */
  drop(count: number): void {
    this.bytes.copyWithin(0, count, this.length)
    this.length -= count
  }
}
