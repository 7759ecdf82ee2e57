// gRPC over one HTTP/2 session: a call is a stream; messages have a prefix of five bytes, and the trailers have the status.

import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2'
import type { Socket } from 'node:net'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { GrpcError, grpcCodes } from './grpc-error.js'

interface ChannelOptions {
  readonly socket: Socket
  readonly url: string
}

export interface StreamListener {
  message(bytes: Buffer): void
  /** Called once, without an error if the call succeeded; nothing follows. Not called for a stream that this side closed. */
  end(error: GrpcError | undefined): void
}

export interface GrpcStream {
  send(message: Buffer): void
  close(): void
}

interface OpenCall {
  readonly stream: ClientHttp2Stream
  readonly sinceMs: number
  readonly isUnary: boolean
  fail(reason: string): void
}

const streamWindowBytes = 1 << 24
const connectionWindowBytes = 1 << 25
/** In megabytes: Node.js refuses new streams while a session uses more, and one response may exceed its default of 10. */
const maxSessionMemory = 512
/** Open calls have this long to end after GOAWAY; then they fail, and callers retry on another connection. */
const goAwayTimeoutMs = 3000
const cancelCode = 8

export class GrpcChannel {
  readonly #session: ClientHttp2Session
  readonly #onEnding: (() => void)[] = []
  readonly #onClosed: (() => void)[] = []
  readonly #calls = new Set<OpenCall>()
  readonly #stopWatching: () => void
  #metadata: Readonly<Record<string, string>> = {}
  #goAwayTimer: NodeJS.Timeout | undefined
  /** A server that has sent no SETTINGS frame does not speak HTTP/2. */
  #hasSettings = false
  #isEnding = false
  #isClosed = false

  constructor({ socket, url }: ChannelOptions) {
    const settings = { enablePush: false, initialWindowSize: streamWindowBytes }
    const session = connect(url, { createConnection: () => socket, settings, maxSessionMemory })
    this.#session = session
    session.once('connect', () => session.setLocalWindowSize(connectionWindowBytes))
    session.once('remoteSettings', () => {
      this.#hasSettings = true
    })
    session.on('goaway', (code) => this.#endAfterGoAway(`the server ended the connection (${code})`))
    session.on('error', (error) => this.close(this.#reasonOf(error)))
    session.on('close', () => this.close('the connection was closed'))
    this.#stopWatching = watchLiveness({
      receivedBytes: () => socket.bytesRead,
      waitingSinceMs: () => this.#oldestCallMs(),
      ping: () => void (session.destroyed || session.ping(() => undefined)),
      onDead: () => this.close('the server stopped responding'),
    })
  }

  setMetadata(metadata: Readonly<Record<string, string>>): void {
    this.#metadata = metadata
  }

  /** The listener is called when the channel accepts no more calls; open calls may still succeed. */
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
      let response: Buffer | undefined
      const end = (error: GrpcError | undefined): void => {
        clearTimeout(timer)
        if (error) reject(error)
        else if (response === undefined) reject(new GrpcError(grpcCodes.internal, 'the response has no message'))
        else resolve(response)
      }
      const setResponse = (bytes: Buffer): void => {
        response = bytes
      }
      const call = this.#open(path, { message: setResponse, end }, true)
      const timer = setTimeout(() => {
        if (call) this.#cancel(call)
        end(new GrpcError(grpcCodes.deadlineExceeded, `no response within ${Math.round(timeoutMs)} ms`))
      }, timeoutMs)
      call?.stream.end(frame(message))
    })
  }

  open(path: string, listener: StreamListener): GrpcStream {
    const call = this.#open(path, listener, false)
    return { send: (message) => void call?.stream.write(frame(message)), close: () => call && this.#cancel(call) }
  }

  close(reason: string): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#goAwayTimer)
    this.#stopWatching()
    const calls = [...this.#calls]
    this.#calls.clear()
    for (const call of calls) call.fail(reason)
    // Not inside a callback of the session: on Node.js 20 that corrupts memory.
    setImmediate(() => this.#session.destroy())
    this.#notifyEnding()
    for (const listener of this.#onClosed) listener()
  }

  /** Undefined if the channel accepts no more calls; then the listener gets the error. */
  #open(path: string, listener: StreamListener, isUnary: boolean): OpenCall | undefined {
    if (this.#isEnding) {
      queueMicrotask(() => listener.end(new GrpcError(grpcCodes.unavailable, 'the connection is closed')))
      return undefined
    }
    const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...this.#metadata }
    const stream = this.#session.request(headers)
    let status: GrpcError | 'ok' | undefined
    let problem = 'the call was cut off'
    const end = (error: GrpcError | undefined): void => {
      if (this.#calls.delete(call)) listener.end(error)
    }
    const fail = (reason: string): void => listener.end(new GrpcError(grpcCodes.unavailable, reason))
    const call: OpenCall = { stream, sinceMs: performance.now(), isUnary, fail }
    const readFrames = createFrameReader((message) => this.#calls.has(call) && listener.message(message))
    const readStatus = (received: IncomingHttpHeaders): void => {
      status = statusOf(received) ?? status
    }
    const endIfStatusKnown = (): void => {
      if (status !== undefined) end(status === 'ok' ? undefined : status)
    }
    stream.on('response', readStatus)
    stream.on('trailers', readStatus)
    stream.on('data', (chunk: Buffer) => {
      try {
        readFrames(chunk)
      } catch (error) {
        this.close(errorMessage(error))
      }
    })
    stream.on('end', endIfStatusKnown)
    stream.on('error', (error) => {
      problem = this.#reasonOf(error)
    })
    stream.on('close', () => {
      endIfStatusKnown()
      end(new GrpcError(grpcCodes.unavailable, problem))
    })
    this.#calls.add(call)
    return call
  }

  #cancel(call: OpenCall): void {
    if (this.#calls.delete(call)) call.stream.close(cancelCode)
  }

  #endAfterGoAway(reason: string): void {
    this.#notifyEnding()
    this.#goAwayTimer ??= setTimeout(() => this.close(reason), goAwayTimeoutMs)
  }

  #notifyEnding(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    for (const listener of this.#onEnding) listener()
  }

  #reasonOf({ message }: Error): string {
    return this.#hasSettings ? `the connection broke: ${message}` : `the server does not speak HTTP/2: ${message}`
  }

  #oldestCallMs(): number | undefined {
    for (const { isUnary, sinceMs } of this.#calls) if (isUnary) return sinceMs
    return undefined
  }
}

function statusOf(headers: IncomingHttpHeaders): GrpcError | 'ok' | undefined {
  const code = headers['grpc-status']
  if (code === '0') return 'ok'
  if (code !== undefined) return new GrpcError(Number(code), decodeMessage(String(headers['grpc-message'] ?? '')))
  const status = headers[':status']
  if (status === undefined || (Number(status) === 200 && headers['content-type']?.startsWith('application/grpc'))) return undefined
  return new GrpcError(grpcCodes.unavailable, `the server does not speak gRPC (HTTP status ${status})`)
}

function decodeMessage(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const prefixBytes = 5
/** Far more than etcd sends. */
const maxMessageBytes = 1 << 28

export function frame(message: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(prefixBytes + message.length)
  bytes[0] = 0
  bytes.writeUInt32BE(message.length, 1)
  bytes.set(message, prefixBytes)
  return bytes
}

/** Takes bytes as they arrive and delivers whole messages. Throws RangeError for a compressed or too long message. */
export function createFrameReader(deliver: (message: Buffer) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = []
  let bytes = 0
  let neededBytes = prefixBytes

  return (chunk) => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes < neededBytes) return
    let rest = chunks.length === 1 ? chunk : Buffer.concat(chunks, bytes)
    for (neededBytes = frameBytes(rest); rest.length >= neededBytes; neededBytes = frameBytes(rest)) {
      const message = rest.subarray(prefixBytes, neededBytes)
      rest = rest.subarray(neededBytes)
      deliver(message)
    }
    chunks = rest.length > 0 ? [rest] : []
    bytes = rest.length
  }
}

function frameBytes(buffer: Buffer): number {
  if (buffer.length < prefixBytes) return prefixBytes
  if (buffer[0] !== 0) throw new RangeError('a compressed message was received')
  const messageBytes = buffer.readUInt32BE(1)
  if (messageBytes > maxMessageBytes) throw new RangeError(`a message of ${messageBytes} bytes was announced`)
  return prefixBytes + messageBytes
}

interface LivenessOptions {
  readonly receivedBytes: () => number
  /** Start of the oldest unary call, by performance.now(); undefined: no call waits. */
  readonly waitingSinceMs: () => number | undefined
  readonly ping: () => void
  readonly onDead: () => void
}

const checkIntervalMs = 500
const callWaitBeforePingMs = 1500
const idleBeforePingMs = 10_000
/** etcd closes a connection that sends more than one ping in five seconds. */
const minPingIntervalMs = 5500
const pingTimeoutMs = 2500

/** Detects dead connections that were never closed: pings when a call waits long or nothing was received for a while. */
function watchLiveness({ receivedBytes, waitingSinceMs, ping, onDead }: LivenessOptions): () => void {
  let checkedMs = performance.now()
  let receivedMs = checkedMs
  let seenBytes = receivedBytes()
  let pingedMs = Number.NEGATIVE_INFINITY
  let isPinging = false

  const check = (): void => {
    const nowMs = performance.now()
    const wasSuspended = nowMs - checkedMs > checkIntervalMs + 1000
    checkedMs = nowMs
    if (receivedBytes() !== seenBytes) {
      seenBytes = receivedBytes()
      receivedMs = nowMs
      isPinging = false
    }
    // The process was suspended: first read the bytes that have arrived meanwhile.
    if (wasSuspended) {
      pingedMs = isPinging ? nowMs : pingedMs
      return
    }
    if (isPinging) {
      if (nowMs - pingedMs > pingTimeoutMs) onDead()
      return
    }
    const waitsLong = nowMs - Math.max(waitingSinceMs() ?? nowMs, receivedMs) > callWaitBeforePingMs
    if ((waitsLong || nowMs - receivedMs > idleBeforePingMs) && nowMs - pingedMs > minPingIntervalMs) {
      isPinging = true
      pingedMs = nowMs
      ping()
    }
  }

  const timer = setInterval(check, checkIntervalMs).unref()
  return () => clearInterval(timer)
}
