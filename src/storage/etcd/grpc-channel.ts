// Calls in gRPC on one connection: a request is a stream of HTTP/2 with a frame of five bytes before each message, and a status in the trailers.

import type { Socket } from 'node:net'
import { GrpcError, grpcCodes } from './grpc-error.js'
import { createFrameReader, messagePrefix } from './grpc-frames.js'
import { encodeHeaders, type Header } from './hpack.js'
import { Http2Connection, type OutgoingStream } from './http2-connection.js'
import { watchLiveness } from './liveness.js'

export interface ChannelOptions {
  /** Connected, with TLS or without. */
  readonly socket: Socket
  /** Such as `http://127.0.0.1:2379`. */
  readonly url: string
}

export interface StreamListener {
  message(bytes: Buffer): void
  /** Called once, without an error when the call went well; nothing follows. Not called for a stream that was closed by this side. */
  end(error: GrpcError | undefined): void
}

export interface GrpcStream {
  send(message: Buffer): void
  close(): void
}

export class GrpcChannel {
  readonly #connection: Http2Connection
  readonly #url: URL
  readonly #onEnding: (() => void)[] = []
  readonly #onClosed: (() => void)[] = []
  readonly #waiting = new Set<{ readonly sinceMs: number }>()
  readonly #stopWatching: () => void
  readonly #headerBlocks = new Map<string, Buffer>()
  #metadata: readonly Header[] = []
  #isEnding = false
  #isClosed = false

  constructor({ socket, url }: ChannelOptions) {
    this.#url = new URL(url)
    this.#connection = new Http2Connection(socket, { ending: () => this.#noteEnding(), closed: () => this.#noteClosed() })
    this.#stopWatching = watchLiveness({
      receivedBytes: () => socket.bytesRead,
      waitingSinceMs: () => this.#oldestCallMs(),
      ping: () => this.#connection.ping(),
      dead: () => this.close('the server does not answer any more'),
    })
  }

  /** Sent along with every later call. */
  setMetadata(metadata: readonly Header[]): void {
    this.#metadata = metadata
    this.#headerBlocks.clear()
  }

  /** Called when no more calls can be made; those that were made before may go on for a while. */
  onEnding(listener: () => void): void {
    if (this.#isEnding) listener()
    else this.#onEnding.push(listener)
  }

  onClosed(listener: () => void): void {
    if (this.#isClosed) listener()
    else this.#onClosed.push(listener)
  }

  /** Rejects with a GrpcError. */
  call(path: string, message: Buffer, timeoutMs: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const waiting = { sinceMs: performance.now() }
      this.#waiting.add(waiting)
      let answer: Buffer | undefined
      const end = (error: GrpcError | undefined): void => {
        clearTimeout(timer)
        this.#waiting.delete(waiting)
        if (error) reject(error)
        else if (answer === undefined) reject(new GrpcError(grpcCodes.internal, 'the answer has no message'))
        else resolve(answer)
      }
      const note = (bytes: Buffer): void => {
        answer = bytes
      }
      const stream = this.#open(path, { message: note, end })
      const timer = setTimeout(() => {
        stream.cancel()
        end(new GrpcError(grpcCodes.deadlineExceeded, `no answer within ${Math.round(timeoutMs)} ms`))
      }, timeoutMs)
      sendMessage(stream, message, true)
    })
  }

  /** A call in which both sides send messages as they like. */
  open(path: string, listener: StreamListener): GrpcStream {
    const stream = this.#open(path, listener)
    return { send: (message) => sendMessage(stream, message, false), close: () => stream.cancel() }
  }

  close(reason: string): void {
    this.#connection.close(reason)
  }

  #open(path: string, listener: StreamListener): OutgoingStream {
    let status: GrpcError | 'ok' | undefined
    const fail = (reason: string): void => listener.end(new GrpcError(grpcCodes.unavailable, reason))
    const read = createFrameReader((message) => listener.message(message))
    return this.#connection.open(this.#headerBlock(path), {
      headers: (headers) => {
        status = statusOf(headers) ?? status
      },
      data: read,
      end: () => {
        if (status === undefined) fail('the call was cut off')
        else listener.end(status === 'ok' ? undefined : status)
      },
      reset: fail,
    })
  }

  #headerBlock(path: string): Buffer {
    const known = this.#headerBlocks.get(path)
    if (known) return known
    const block = encodeHeaders([
      { name: ':method', value: 'POST' },
      { name: ':scheme', value: this.#url.protocol.slice(0, -1) },
      { name: ':path', value: path },
      { name: ':authority', value: this.#url.host },
      { name: 'content-type', value: 'application/grpc' },
      { name: 'te', value: 'trailers' },
      ...this.#metadata,
    ])
    this.#headerBlocks.set(path, block)
    return block
  }

  #noteEnding(): void {
    this.#isEnding = true
    for (const listener of this.#onEnding) listener()
  }

  #noteClosed(): void {
    this.#isClosed = true
    this.#stopWatching()
    for (const listener of this.#onClosed) listener()
  }

  #oldestCallMs(): number | undefined {
    for (const { sinceMs } of this.#waiting) return sinceMs
    return undefined
  }
}

/** Small messages are copied behind their prefix, into one frame of HTTP/2. */
const mostCopiedBytes = 4096

function sendMessage(stream: OutgoingStream, message: Buffer, isLast: boolean): void {
  const prefix = messagePrefix(message.length)
  if (message.length <= mostCopiedBytes) stream.send(Buffer.concat([prefix, message]), isLast)
  else {
    stream.send(prefix, false)
    stream.send(message, isLast)
  }
}

function statusOf(headers: readonly Header[]): GrpcError | 'ok' | undefined {
  const headerOf = (wanted: string): string | undefined => headers.find(({ name }) => name === wanted)?.value
  const code = headerOf('grpc-status')
  if (code === '0') return 'ok'
  if (code !== undefined) return new GrpcError(Number(code), decodeMessage(headerOf('grpc-message') ?? ''))
  const status = headerOf(':status')
  if (status === undefined || (status === '200' && headerOf('content-type')?.startsWith('application/grpc'))) return undefined
  return new GrpcError(grpcCodes.unavailable, `the server does not speak gRPC (HTTP status ${status})`)
}

function decodeMessage(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
