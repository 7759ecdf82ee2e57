// Long-running requests for tests: streamed responses and upgraded connections.

import { once } from 'node:events'
import { request } from 'node:https'
import { connect, type TLSSocket } from 'node:tls'
import type { Access } from '../api-client.js'
import { secureContextFor } from '../secure-context.js'

/** A streamed response. */
export class TextStream {
  text = ''
  status = 0
  readonly ended: Promise<void>
  readonly #close: () => void

  constructor({ url, ca, token }: Access, path: string) {
    const sent = request(`${url}${path}`, { ...secureContextFor(ca), agent: false, headers: { authorization: `Bearer ${token}` } })
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

interface UpgradeOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Default: the token of `access`; null: none. */
  readonly token?: string | null
}

/** Opens an HTTP/1.1 connection. */
export async function dial({ url, ca }: Access): Promise<TLSSocket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), ...secureContextFor(ca), ALPNProtocols: ['http/1.1'] })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  return socket
}

interface UpgradedConnection {
  readonly socket: TLSSocket
  /** Status line and headers. */
  readonly head: string
  readonly code: number
  /** Bytes after the headers. */
  readonly early: Buffer
}

/** Sends an upgrade request and waits for the response headers. */
export async function upgrade(
  access: Access,
  path: string,
  { method = 'GET', headers = {}, token = access.token }: UpgradeOptions = {},
): Promise<UpgradedConnection> {
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

function readHead(socket: TLSSocket): Promise<UpgradedConnection> {
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

/** Reads to the end. */
export async function readRest({ socket, early }: UpgradedConnection): Promise<string> {
  let text = early.toString('latin1')
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
  })
  socket.resume()
  if (!socket.closed) await once(socket, 'close')
  return text
}
