// Finds the ends of HTTP responses in a stream; keeps no bodies, because a load generator must be cheap.

export interface ResponseHead {
  readonly status: number
  /** Names and values in order of arrival. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

type State = 'head' | 'body' | 'chunk-size' | 'chunk' | 'chunk-end' | 'last-line'

const headEnd = Buffer.from('\r\n\r\n')

export class ResponseReader {
  head: ResponseHead = { status: 0, headers: [] }
  bodyBytes = 0
  private readonly onEnd: () => void
  private readonly onBody: ((bytes: Buffer) => void) | undefined
  private state: State = 'head'
  private remainingBytes = 0
  private pending: Buffer = Buffer.alloc(0)

  constructor(onEnd: () => void, onBody?: (bytes: Buffer) => void) {
    this.onEnd = onEnd
    this.onBody = onBody
  }

  push(chunk: Buffer): void {
    let bytes = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk])
    this.pending = Buffer.alloc(0)
    while (bytes.length > 0) {
      const rest = this.step(bytes)
      if (rest === undefined) {
        this.pending = bytes
        return
      }
      bytes = rest
    }
  }

  /** Remaining bytes after one step; undefined if the step needs more. */
  private step(bytes: Buffer): Buffer | undefined {
    switch (this.state) {
      case 'head':
        return this.readHead(bytes)
      case 'body':
      case 'chunk':
        return this.readBody(bytes)
      case 'chunk-size':
        return this.readLine(bytes, (line) => {
          this.remainingBytes = Number.parseInt(line, 16)
          this.state = this.remainingBytes === 0 ? 'last-line' : 'chunk'
        })
      case 'chunk-end':
        return this.readLine(bytes, () => {
          this.state = 'chunk-size'
        })
      case 'last-line':
        return this.readLine(bytes, () => this.end())
    }
  }

  private readHead(bytes: Buffer): Buffer | undefined {
    const at = bytes.indexOf(headEnd)
    if (at < 0) return undefined
    const [first = '', ...lines] = bytes.toString('latin1', 0, at).split('\r\n')
    const headers = lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trim()]
    })
    this.head = { status: Number(first.slice(9, 12)), headers }
    this.bodyBytes = 0
    const length = headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1]
    this.remainingBytes = Number(length ?? 0)
    this.state = length === undefined ? 'chunk-size' : 'body'
    if (length !== undefined && this.remainingBytes === 0) this.end()
    return bytes.subarray(at + headEnd.length)
  }

  private readBody(bytes: Buffer): Buffer {
    const taken = bytes.subarray(0, this.remainingBytes)
    this.remainingBytes -= taken.length
    this.bodyBytes += taken.length
    this.onBody?.(taken)
    if (this.remainingBytes === 0) {
      if (this.state === 'body') this.end()
      else this.state = 'chunk-end'
    }
    return bytes.subarray(taken.length)
  }

  private readLine(bytes: Buffer, take: (line: string) => void): Buffer | undefined {
    const at = bytes.indexOf('\r\n')
    if (at < 0) return undefined
    take(bytes.toString('latin1', 0, at))
    return bytes.subarray(at + 2)
  }

  private end(): void {
    this.state = 'head'
    this.onEnd()
  }
}
