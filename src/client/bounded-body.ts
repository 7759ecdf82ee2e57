// The body of an answer that is read whole, up to a length: a server cannot fill the memory of its clients.

import { ProtocolError } from './errors.js'
import { GrowingBytes } from './growing-bytes.js'

const longestBody = 128 * 1024 * 1024
/** What is said of a failure is short. */
const longestFailure = 1024 * 1024

export class BoundedBody {
  private readonly most: number
  private first: Uint8Array | undefined
  private joined: GrowingBytes | undefined

  constructor(status: number) {
    this.most = status < 400 ? longestBody : longestFailure
  }

  /** Throws where it is too long. The chunk may be used again for the next. */
  append(chunk: Uint8Array): void {
    const { first, most } = this
    const length = (this.joined?.length ?? first?.length ?? 0) + chunk.length
    if (length > most) throw new ProtocolError(`the answer is longer than ${most} bytes`)
    if (first === undefined) {
      // Most answers come in one piece.
      this.first = new Uint8Array(chunk)
      return
    }
    if (this.joined === undefined) {
      this.joined = new GrowingBytes(most + 1, 2 * length)
      this.joined.append(first)
    }
    this.joined.append(chunk)
  }

  get bytes(): Uint8Array {
    return this.joined?.bytes.subarray(0, this.joined.length) ?? this.first ?? new Uint8Array()
  }
}
