// Counts a byte pattern in a chunked stream, also where it spans chunks.

export class PatternCounter {
  private readonly pattern: Buffer
  /** The last bytes, one less than the pattern. */
  private tail: Buffer = Buffer.alloc(0)

  constructor(pattern: Buffer) {
    this.pattern = pattern
  }

  /** Number of patterns that end in this chunk. */
  count(chunk: Buffer): number {
    const overlap = this.pattern.length - 1
    let count = countIn(Buffer.concat([this.tail, chunk.subarray(0, overlap)]), this.pattern)
    count += countIn(chunk, this.pattern)
    this.tail =
      chunk.length >= overlap ? Buffer.from(chunk.subarray(chunk.length - overlap)) : Buffer.concat([this.tail, chunk]).subarray(-overlap)
    return count
  }
}

function countIn(bytes: Buffer, pattern: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(pattern); at >= 0; at = bytes.indexOf(pattern, at + pattern.length)) count += 1
  return count
}
