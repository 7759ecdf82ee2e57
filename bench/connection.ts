// A keep-alive TLS connection that sends prepared requests one after the other and waits for each response.

import { connect, type TLSSocket } from 'node:tls'
import { type ResponseHead, ResponseReader } from './response-reader.js'

export interface Target {
  readonly port: number
  readonly ca: string
  /** Empty: no Authorization header. */
  readonly token: string
  /** Client certificate. */
  readonly certificate?: { readonly cert: string; readonly key: string }
}

export interface Response extends ResponseHead {
  readonly body: Buffer
}

export class Connection {
  private readonly socket: TLSSocket
  private readonly reader: ResponseReader
  private finish: () => void = () => undefined
  private fail: (error: Error) => void = () => undefined
  /** Chunks of the response body; undefined: the body is discarded. */
  private bodyChunks: Buffer[] | undefined

  private constructor(socket: TLSSocket) {
    this.socket = socket
    this.reader = new ResponseReader(
      () => this.finish(),
      (bytes) => this.bodyChunks?.push(bytes),
    )
    socket.on('data', (chunk: Buffer) => this.reader.push(chunk))
    socket.on('error', (error) => this.fail(error))
    socket.on('close', () => this.fail(new Error('the connection was closed')))
  }

  static open({ port, ca, certificate }: Target): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, ca, ALPNProtocols: ['http/1.1'], ...certificate }, () => {
        socket.off('error', reject)
        socket.setNoDelay(true)
        resolve(new Connection(socket))
      })
      socket.once('error', reject)
    })
  }

  /** Sends a request and waits for the whole response; resolves with the status. */
  exchange(request: Buffer): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.socket.destroyed) {
        reject(new Error('the connection was closed before the request'))
        return
      }
      this.finish = () => resolve(this.reader.head.status)
      this.fail = reject
      this.socket.write(request)
    })
  }

  /** Like `exchange`; resolves with the whole response. */
  async fetch(request: Buffer): Promise<Response> {
    this.bodyChunks = []
    await this.exchange(request)
    const body = Buffer.concat(this.bodyChunks)
    this.bodyChunks = undefined
    return { ...this.reader.head, body }
  }

  close(): void {
    this.fail = () => undefined
    this.socket.destroy()
  }
}

export interface RequestParts {
  readonly method: string
  readonly path: string
  readonly type?: string
  readonly accept?: string
  readonly body?: string | Buffer
}

/** Serializes a request once, to be sent many times. */
export function requestBytes({ token }: Target, parts: RequestParts): Buffer {
  const { method, path, type = 'application/json', accept = 'application/json', body } = parts
  const payload = body === undefined ? undefined : Buffer.from(body)
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'User-Agent: bench',
    `Accept: ${accept}`,
    ...(token === '' ? [] : [`Authorization: Bearer ${token}`]),
    ...(payload === undefined ? [] : [`Content-Type: ${type}`, `Content-Length: ${payload.length}`]),
  ].join('\r\n')
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), payload ?? Buffer.alloc(0)])
}
