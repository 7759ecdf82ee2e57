// HTTPS listener of the test webhooks of one server, on loopback, with a certificate of its own CA.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { issueCertificate } from '../../../net/tls/issue-certificate.js'

/** A review as sent. `whenCut` calls its listener if the server closes the connection before it has the response. */
export interface ReceivedReview {
  readonly text: string
  readonly whenCut: (listener: () => void) => void
}

export interface SentResponse {
  readonly status: number
  readonly text: string
  readonly headers?: { readonly [name: string]: string }
}

/** Never rejects. */
type Receive = (review: ReceivedReview) => Promise<SentResponse>

export interface ListenerAddress {
  readonly origin: string
  readonly caPem: string
}

const host = '127.0.0.1'
const caName = 'test-webhooks-ca'
const hourMs = 3_600_000
const validMs = 10 * 365 * 24 * hourMs
const maxBodyBytes = 64 << 20

export class WebhookListener {
  readonly #receivers = new Map<string, Receive>()
  #server: Server | undefined
  #address: Promise<ListenerAddress> | undefined
  #isClosed = false

  /** Listens on first use. Rejects after `close`. */
  async open(): Promise<ListenerAddress> {
    this.#address ??= this.#isClosed ? undefined : this.#listen()
    const address = await this.#address
    if (address !== undefined && !this.#isClosed) return address
    this.close()
    throw new Error('webhook: the server is closed')
  }

  /** The path begins with `/`. */
  add(path: string, receive: Receive): void {
    this.#receivers.set(path, receive)
  }

  remove(path: string): void {
    this.#receivers.delete(path)
  }

  close(): void {
    this.#isClosed = true
    this.#receivers.clear()
    this.#server?.closeAllConnections()
    this.#server?.close()
  }

  async #listen(): Promise<ListenerAddress> {
    const nowMs = Date.now()
    const validity = { notBefore: nowMs - hourMs, notAfter: nowMs + validMs }
    const authority = issueCertificate({ commonName: caName, use: 'authority', ...validity })
    const pair = issueCertificate({ commonName: host, hosts: [host], use: 'server', ...validity }, { ...authority, commonName: caName })
    const server = createServer(pair, (request, response) => {
      this.#serve(request, response).catch((thrown: unknown) => response.destroy(thrown as Error))
    })
    this.#server = server
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(0, host, resolve)
    })
    return { origin: `https://${host}:${(server.address() as AddressInfo).port}`, caPem: authority.cert }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ''] = (request.url ?? '').split('?')
    const receive = this.#receivers.get(path)
    const send = ({ status, text, headers = {} }: SentResponse): void => {
      response.writeHead(status, { 'content-type': 'text/plain', ...headers })
      response.end(text)
    }
    if (receive === undefined) return send({ status: 404, text: 'this webhook is closed' })
    const text = await readBody(request)
    if (text === undefined) return send({ status: 413, text: 'the review is too long' })
    const whenCut = (listener: () => void): void => {
      response.once('close', () => {
        if (!response.writableEnded) listener()
      })
    }
    send(await receive({ text, whenCut }))
  }
}

/** Undefined if the body is too long. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBodyBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
