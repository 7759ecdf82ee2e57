// The chunks of a body in HTTP/1.1: takes away what stands around them.

/** Digits of a length. */
const mostDigits = 12
/** What may stand behind a length. */
const mostExtensionBytes = 16 * 1024
const [lineFeed, carriageReturn, semicolon, space, tab] = [10, 13, 59, 32, 9] as const

type State = 'length' | 'extension' | 'line end' | 'data' | 'data return' | 'data end' | 'over'

export class ChunkFraming {
  /** How many bytes of the body the last call has left at the beginning. */
  length = 0
  failure: string | undefined
  private state: State = 'length'
  /** Of the chunk. */
  private left = 0
  private digits = 0
  private extensionBytes = 0

  /** Whether the line of the last chunk was seen; what follows it is not looked at. */
  get isOver(): boolean {
    return this.state === 'over'
  }

  /** Moves the body in these bytes to their beginning. Gives where what was looked at ends. */
  strip(bytes: Uint8Array): number {
    this.length = 0
    let at = 0
    while (at < bytes.length && this.state !== 'over') {
      if (this.state === 'data') {
        const end = Math.min(bytes.length, at + this.left)
        if (this.length !== at) bytes.copyWithin(this.length, at, end)
        this.length += end - at
        this.left -= end - at
        at = end
        if (this.left === 0) this.state = 'data return'
      } else {
        this.failure = this.step(bytes[at] as number)
        if (this.failure !== undefined) return bytes.length
        at++
      }
    }
    return at
  }

  /** What is wrong with the byte. */
  private step(byte: number): string | undefined {
    switch (this.state) {
      case 'length':
        return this.stepLength(byte)
      case 'extension':
        if (byte === carriageReturn) this.state = 'line end'
        else if (byte === lineFeed) return 'a line of a chunk ends without a carriage return'
        else if (++this.extensionBytes > mostExtensionBytes) return 'more is said of a chunk than there may be'
        return undefined
      case 'line end':
        if (byte !== lineFeed) return 'the length of a chunk has no end'
        this.state = this.left > 0 ? 'data' : 'over'
        this.digits = 0
        this.extensionBytes = 0
        return undefined
      case 'data return':
        this.state = 'data end'
        return byte === carriageReturn ? undefined : 'a chunk is longer than its length'
      default:
        this.state = 'length'
        return byte === lineFeed ? undefined : 'a chunk is longer than its length'
    }
  }

  private stepLength(byte: number): string | undefined {
    const digit = digitOf(byte)
    if (digit >= 0) {
      this.left = this.left * 16 + digit
      this.digits++
      return this.digits > mostDigits ? 'a chunk is too long' : undefined
    }
    if (this.digits === 0) return 'a chunk has no length'
    if (byte === carriageReturn) this.state = 'line end'
    else if (byte === semicolon || byte === space || byte === tab) this.state = 'extension'
    else return 'the length of a chunk is no number'
    return undefined
  }
}

/** -1 where it is none. */
function digitOf(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  const letter = byte | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}
