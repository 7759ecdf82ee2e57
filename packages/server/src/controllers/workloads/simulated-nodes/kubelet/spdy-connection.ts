// Server side of SPDY/3.1 as kubectl uses it: streams that the client opens on an upgraded connection, without flow control windows.

import { Duplex } from 'node:stream'
import { constants, createDeflate, createInflate, type Deflate, type Inflate } from 'node:zlib'

const maxStreams = 256
const maxControlBytes = 16 << 10
const maxHeaderBytes = 64 << 10

const dictionaryWords = [
  ...'options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow'.split(' '),
  ...'authorization cache-control connection content-base content-encoding content-language content-length'.split(' '),
  ...'content-location content-md5 content-range content-type date etag expect expires from host if-match'.split(' '),
  ...'if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma'.split(' '),
  ...'proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade'.split(' '),
  ...'user-agent vary via warning www-authenticate method get status'.split(' '),
  ...['200 OK', 'version', 'HTTP/1.1', 'url', 'public', 'set-cookie', 'keep-alive', 'origin'],
]
/** End of the dictionary, without lengths. */
const dictionaryEnd =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505' +
  '203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found' +
  '500 Internal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 ' +
  'Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,' +
  'text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.'

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Compression dictionary of SPDY/3: words, each after its length. */
export const dictionary = Buffer.concat([
  ...dictionaryWords.flatMap((word) => [uint32(word.length), Buffer.from(word)]),
  Buffer.from(dictionaryEnd),
])

type StreamHeaders = { readonly [name: string]: string | undefined }

const frameTypes = { open: 1, reply: 2, reset: 3, ping: 6, goAway: 7 }
const fin = 1

type Send = (id: number, flags: number, bytes: Buffer, done: (error?: Error | null) => void) => void

export class SpdyStream extends Duplex {
  readonly id: number
  readonly headers: StreamHeaders
  readonly #send: Send
  #whenRead: (() => void) | undefined

  constructor(id: number, headers: StreamHeaders, send: Send) {
    super({ emitClose: true })
    this.id = id
    this.headers = headers
    this.#send = send
    this.on('error', () => undefined)
    this.once('close', () => this.#whenRead?.())
  }

  /** Resolves when more bytes can be received: the connection is not read until then. */
  async receive(bytes: Buffer): Promise<void> {
    if (this.readableEnded || this.destroyed || this.push(bytes)) return
    await new Promise<void>((resolve) => {
      this.#whenRead = resolve
    })
  }

  override _read(): void {
    this.#whenRead?.()
    this.#whenRead = undefined
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#send(this.id, 0, chunk, done)
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#send(this.id, fin, Buffer.alloc(0), done)
  }
}

/** Reads frames until the connection closes. Frames that are not valid or beyond the limits close it. */
export class SpdyConnection {
  readonly #socket: Duplex
  readonly #onStream: (stream: SpdyStream) => void
  readonly #streams = new Map<number, SpdyStream>()
  readonly #inflate = createInflate({ dictionary })
  readonly #deflate = createDeflate({ dictionary })
  readonly #head = Buffer.alloc(8)
  #headBytes = 0
  #body: Buffer = Buffer.alloc(0)
  #bodyBytes = 0
  /** Bytes of the current data frame that were not received yet. */
  #dataLeft = 0

  constructor(socket: Duplex, onStream: (stream: SpdyStream) => void) {
    this.#socket = socket
    this.#onStream = onStream
    for (const through of [this.#inflate, this.#deflate]) through.on('error', () => void socket.destroy())
    socket.once('close', () => {
      for (const stream of this.#streams.values()) stream.destroy()
      this.#inflate.close()
      this.#deflate.close()
    })
    socket.once('end', () => socket.end())
    // Paused while a stream must be read first.
    socket.on('data', (chunk: Buffer) => {
      socket.pause()
      this.#read(chunk).then(
        () => socket.resume(),
        () => socket.destroy(),
      )
    })
    socket.resume()
  }

  async #read(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      if (this.#dataLeft > 0) {
        const bytes = chunk.subarray(at, at + this.#dataLeft)
        at += bytes.length
        this.#dataLeft -= bytes.length
        await this.#streams.get(this.#head.readUInt32BE(0))?.receive(bytes)
        if (this.#dataLeft === 0) this.#endData()
        continue
      }
      if (this.#headBytes < 8) {
        const copied = chunk.copy(this.#head, this.#headBytes, at)
        at += copied
        this.#headBytes += copied
        if (this.#headBytes === 8) this.#begin()
      } else {
        const copied = chunk.copy(this.#body, this.#bodyBytes, at)
        at += copied
        this.#bodyBytes += copied
      }
      if (this.#headBytes === 8 && this.#isControl && this.#bodyBytes === this.#body.length) {
        await this.#handleControl()
        await drained(this.#socket)
      }
    }
  }

  get #isControl(): boolean {
    return ((this.#head[0] ?? 0) & 0x80) !== 0
  }

  #begin(): void {
    const length = this.#head.readUInt32BE(4) & 0xffffff
    this.#bodyBytes = 0
    if (!this.#isControl) {
      this.#dataLeft = length
      if (length === 0) this.#endData()
      return
    }
    if (length > maxControlBytes) throw new Error('a control frame is too long')
    this.#body = Buffer.alloc(length)
  }

  #endData(): void {
    this.#headBytes = 0
    const stream = this.#streams.get(this.#head.readUInt32BE(0))
    if (((this.#head[4] ?? 0) & fin) !== 0 && stream?.readableEnded === false) stream.push(null)
  }

  async #handleControl(): Promise<void> {
    this.#headBytes = 0
    const flags = this.#head[4] ?? 0
    const body = this.#body
    switch (this.#head.readUInt16BE(2)) {
      case frameTypes.open: {
        const id = body.readUInt32BE(0)
        const headers = parseHeaders(await transform(this.#inflate, body.subarray(10)))
        if (this.#streams.size >= maxStreams || this.#streams.has(id)) throw new Error('too many streams, or an id is used twice')
        const stream = new SpdyStream(id, headers, (...data) => this.#sendData(...data))
        this.#streams.set(id, stream)
        stream.once('close', () => this.#streams.delete(id))
        this.#sendControl(frameTypes.reply, Buffer.concat([uint32(id), await transform(this.#deflate, uint32(0))]))
        this.#onStream(stream)
        if (flags & fin) stream.push(null)
        return
      }
      case frameTypes.reset:
        this.#streams.get(body.readUInt32BE(0))?.destroy()
        return
      case frameTypes.ping:
        this.#sendControl(frameTypes.ping, body)
        return
      case frameTypes.goAway:
        return
    }
  }

  #sendData(id: number, flags: number, bytes: Buffer, done: (error?: Error | null) => void): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) {
      done(new Error('the connection is closed'))
      return
    }
    const head = Buffer.concat([uint32(id), uint32(bytes.length)])
    head[4] = flags
    this.#socket.write(Buffer.concat([head, bytes]), done)
  }

  #sendControl(type: number, body: Buffer): void {
    const head = Buffer.alloc(8)
    head.writeUInt16BE(0x8003)
    head.writeUInt16BE(type, 2)
    head.writeUInt32BE(body.length, 4)
    if (!this.#socket.destroyed && !this.#socket.writableEnded) this.#socket.write(Buffer.concat([head, body]))
  }
}

/** Resolves when the client has read what was sent: replies to frames would fill the memory otherwise. */
async function drained(socket: Duplex): Promise<void> {
  if (!socket.writableNeedDrain) return
  await new Promise<void>((resolve) => {
    const end = (): void => {
      socket.off('drain', end).off('close', end)
      resolve()
    }
    socket.on('drain', end).on('close', end)
  })
}

/** Throws for a block that ends within a text. */
function parseHeaders(block: Buffer): StreamHeaders {
  const headers: Record<string, string> = {}
  let at = 4
  const text = (): string => {
    const length = block.readUInt32BE(at)
    at += 4 + length
    if (at > block.length) throw new Error('a header is incomplete')
    return block.toString('utf8', at - length, at)
  }
  for (let left = block.readUInt32BE(0); left > 0; left--) {
    const name = text()
    headers[name.toLowerCase()] = text()
  }
  return headers
}

/** Compresses or inflates one block with the context of the connection. */
function transform(through: Inflate | Deflate, block: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const stop = (): void => {
      through.off('data', keep)
      through.off('error', fail)
      through.off('close', fail)
    }
    const fail = (error?: Error): void => {
      stop()
      reject(error ?? new Error('the connection is closed'))
    }
    const keep = (chunk: Buffer): void => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > maxHeaderBytes) fail(new Error('the headers are too long'))
    }
    through.on('data', keep)
    through.once('error', fail)
    through.once('close', fail)
    through.write(block)
    through.flush(constants.Z_SYNC_FLUSH, () => {
      stop()
      resolve(Buffer.concat(chunks))
    })
  })
}
