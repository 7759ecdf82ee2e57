// Requests that last, for tests: an answer that grows, and a connection whose protocol is changed.

import { once } from 'node:events'
import { request } from 'node:https'
import { connect, type TLSSocket } from 'node:tls'
import type { Access } from './api-client.js'
import { trusting } from './trust.js'

/** An answer as it comes. */
export class TextStream {
  text = ''
  status = 0
  readonly ended: Promise<void>
  readonly #close: () => void

  constructor({ url, ca, token }: Access, path: string) {
    const sent = request(`${url}${path}`, { ...trusting(ca), agent: false, headers: { authorization: `Bearer ${token}` } })
    this.#close = () => void sent.destroy()
    this.ended = new Promise((resolve) => {
      sent.on('response', (response) => {
        this.status = response.statusCode ?? 0
        response.setEncoding('utf8').on('data', (text: string) => {
          this.text += text
        })
        response.on('close', resolve)
        response.on('error', () => undefined)
      })
      sent.on('error', () => resolve())
    })
    sent.end()
  }

  close(): void {
    this.#close()
  }
}

export interface Upgrading {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Left out: that of the access; null: none. */
  readonly token?: string | null
}

/** A connection that speaks HTTP/1.1. */
export async function dial({ url, ca }: Access): Promise<TLSSocket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), ...trusting(ca), ALPNProtocols: ['http/1.1'] })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  return socket
}

export interface Upgraded {
  readonly socket: TLSSocket
  /** The head of the answer. */
  readonly head: string
  readonly code: number
  /** What came behind it. */
  readonly early: Buffer
}

/** Sends a request for another protocol, and waits for the head of the answer. */
export async function upgrade(
  access: Access,
  path: string,
  { method = 'GET', headers = {}, token = access.token }: Upgrading = {},
): Promise<Upgraded> {
  const socket = await dial(access)
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${new URL(access.url).host}`,
    'Connection: Upgrade',
    ...(headers['Upgrade'] === undefined ? ['Upgrade: SPDY/3.1'] : []),
    ...(token === null ? [] : [`Authorization: Bearer ${token}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  return readHead(socket)
}

function readHead(socket: TLSSocket): Promise<Upgraded> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0)
    const take = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk])
      const end = bytes.indexOf('\r\n\r\n')
      if (end < 0) return
      socket.pause()
      socket.off('data', take)
      socket.off('close', fail)
      const head = bytes.subarray(0, end).toString('latin1')
      resolve({ socket, head, code: Number(head.split(' ')[1]), early: bytes.subarray(end + 4) })
    }
    const fail = (): void => reject(new Error(`closed after ${JSON.stringify(bytes.toString('latin1'))}`))
    socket.on('data', take)
    socket.once('close', fail)
  })
}

/** Everything up to the end. */
export async function readRest({ socket, early }: Upgraded): Promise<string> {
  let text = early.toString('latin1')
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
  })
  socket.resume()
  if (!socket.closed) await once(socket, 'close')
  return text
}
