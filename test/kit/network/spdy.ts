// The part of SPDY/3.1 that kubelets and their clients use: streams with headers on an upgraded connection, without flow control windows.

import { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'
import { constants, createDeflate, createInflate, type Deflate, type Inflate } from 'node:zlib'
import { dictionary, uint32 } from '../../../packages/server/src/controllers/workloads/simulated-nodes/kubelet/spdy-connection.js'

type Headers = { readonly [name: string]: string }

const frameTypes = { open: 1, reply: 2, reset: 3, ping: 6, goAway: 7 }
const fin = 1

/** Emits `data`, `end` and `reset`. */
export class SpdyStream extends EventEmitter {
  readonly id: number
  readonly headers: Headers
  readonly #connection: SpdyConnection
  isEnded = false

  constructor(connection: SpdyConnection, id: number, headers: Headers) {
    super()
    this.#connection = connection
    this.id = id
    this.headers = headers
  }

  reply(): Promise<void> {
    return this.#connection.reply(this.id)
  }

  /** False if the connection needs to drain. */
  write(bytes: Buffer | string): boolean {
    return this.#connection.writeData(this.id, Buffer.from(bytes), 0)
  }

  end(): void {
    if (this.isEnded) return
    this.isEnded = true
    this.#connection.writeData(this.id, Buffer.alloc(0), fin)
  }
}

/** Emits `stream` for each stream that the peer opens, and `close`. */
export class SpdyConnection extends EventEmitter {
  readonly socket: Duplex
  readonly #streams = new Map<number, SpdyStream>()
  readonly #inflate: Inflate = createInflate({ dictionary })
  readonly #deflate: Deflate = createDeflate({ dictionary })
  #nextId: number
  #unread: Buffer = Buffer.alloc(0)
  #reading: Promise<void> = Promise.resolve()
  #writing: Promise<void> = Promise.resolve()

  constructor(socket: Duplex, { isServer }: { readonly isServer: boolean }) {
    super()
    this.socket = socket
    this.#nextId = isServer ? 2 : 1
    socket.on('data', (chunk: Buffer) => {
      this.#reading = this.#reading.then(() => this.#read(chunk)).catch(() => void socket.destroy())
    })
    socket.on('error', () => undefined)
    socket.on('close', () => this.emit('close'))
    socket.resume()
  }

  /** Opens a stream, which can be written at once. */
  open(headers: Headers): SpdyStream {
    const stream = new SpdyStream(this, this.#nextId, headers)
    this.#nextId += 2
    this.#streams.set(stream.id, stream)
    this.#writing = this.#writing.then(async () => {
      const block = await this.#compressHeaders(headers)
      this.#writeControl(frameTypes.open, 0, Buffer.concat([uint32(stream.id), uint32(0), Buffer.alloc(2), block]))
    })
    return stream
  }

  async reply(id: number): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      this.#writeControl(frameTypes.reply, 0, Buffer.concat([uint32(id), await this.#compressHeaders({})]))
    })
    await this.#writing
  }

  writeData(id: number, bytes: Buffer, flags: number): boolean {
    if (this.socket.destroyed) return true
    const head = Buffer.concat([uint32(id), uint32(bytes.length)])
    head[4] = flags
    // Queued behind the headers of the stream, which are compressed in order.
    this.#writing = this.#writing.then(() => void this.socket.write(Buffer.concat([head, bytes])))
    return !this.socket.writableNeedDrain
  }

  async flushed(): Promise<void> {
    await this.#writing
  }

  end(): void {
    void this.#writing.then(() => this.socket.end())
  }

  #writeControl(type: number, flags: number, body: Buffer): void {
    const head = Buffer.alloc(8)
    head.writeUInt16BE(0x8003)
    head.writeUInt16BE(type, 2)
    head.writeUInt32BE(body.length, 4)
    head[4] = flags
    if (!this.socket.destroyed) this.socket.write(Buffer.concat([head, body]))
  }

  async #read(chunk: Buffer): Promise<void> {
    this.#unread = this.#unread.length === 0 ? chunk : Buffer.concat([this.#unread, chunk])
    while (this.#unread.length >= 8) {
      const length = this.#unread.readUInt32BE(4) & 0xffffff
      if (this.#unread.length < 8 + length) return
      const frame = this.#unread.subarray(0, 8 + length)
      this.#unread = this.#unread.subarray(8 + length)
      await this.#handleFrame(frame)
    }
  }

  async #handleFrame(frame: Buffer): Promise<void> {
    const flags = frame[4] ?? 0
    const body = frame.subarray(8)
    if (((frame[0] ?? 0) & 0x80) === 0) {
      const stream = this.#streams.get(frame.readUInt32BE(0))
      if (body.length > 0) stream?.emit('data', body)
      if (flags & fin) stream?.emit('end')
      return
    }
    switch (frame.readUInt16BE(2)) {
      case frameTypes.open: {
        const stream = new SpdyStream(this, body.readUInt32BE(0), await this.#decompressHeaders(body.subarray(10)))
        this.#streams.set(stream.id, stream)
        this.emit('stream', stream)
        if (flags & fin) stream.emit('end')
        return
      }
      case frameTypes.reply:
        await this.#decompressHeaders(body.subarray(4))
        return
      case frameTypes.reset:
        this.#streams.get(body.readUInt32BE(0))?.emit('reset')
        return
      case frameTypes.ping:
        this.#writeControl(frameTypes.ping, 0, body)
        return
      case frameTypes.goAway:
        this.emit('goAway')
        return
    }
  }

  async #compressHeaders(headers: Headers): Promise<Buffer> {
    const entries = Object.entries(headers)
    const plain = entries.flatMap(([name, value]) =>
      [name.toLowerCase(), value].flatMap((text) => [uint32(Buffer.byteLength(text)), Buffer.from(text)]),
    )
    return transform(this.#deflate, Buffer.concat([uint32(entries.length), ...plain]))
  }

  async #decompressHeaders(block: Buffer): Promise<Headers> {
    const plain = await transform(this.#inflate, block)
    const headers: Record<string, string> = {}
    let at = 4
    const text = (): string => {
      const length = plain.readUInt32BE(at)
      at += 4 + length
      return plain.subarray(at - length, at).toString('utf8')
    }
    for (let left = plain.readUInt32BE(0); left > 0; left--) {
      const name = text()
      headers[name] = text()
    }
    return headers
  }
}

/** Compresses or inflates one block with the shared context. */
function transform(through: Inflate | Deflate, block: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const keep = (chunk: Buffer): void => void chunks.push(chunk)
    through.on('data', keep)
    through.once('error', reject)
    through.write(block)
    through.flush(constants.Z_SYNC_FLUSH, () => {
      through.off('data', keep)
      through.off('error', reject)
      resolve(Buffer.concat(chunks))
    })
  })
}
