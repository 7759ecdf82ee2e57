// Counts how often a mark stands in a stream that comes in chunks: a mark may begin in one chunk and end in the next.

export class MarkCounter {
  private readonly mark: Buffer
  /** The end of what came so far, one byte shorter than a mark. */
  private tail: Buffer = Buffer.alloc(0)

  constructor(mark: Buffer) {
    this.mark = mark
  }

  /** How many marks end in this chunk. */
  count(chunk: Buffer): number {
    const overlap = this.mark.length - 1
    let marks = marksIn(Buffer.concat([this.tail, chunk.subarray(0, overlap)]), this.mark)
    marks += marksIn(chunk, this.mark)
    this.tail =
      chunk.length >= overlap ? Buffer.from(chunk.subarray(chunk.length - overlap)) : Buffer.concat([this.tail, chunk]).subarray(-overlap)
    return marks
  }
}

function marksIn(bytes: Buffer, mark: Buffer): number {
  let marks = 0
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length)) marks += 1
  return marks
}
