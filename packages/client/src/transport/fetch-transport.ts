// Requests over `fetch` and the built-in WebSocket: for browsers, and for every other place that has them. Certificates are the browser's own.

import { identityNames, identityOf } from '../api/identity.js'
import { refuseUnknownOptions } from '../base/known-options.js'
import { onAbort } from '../base/on-abort.js'
import { BoundedBody } from './bounded-body.js'
import { BrowserMessageSocket, type BuiltInSocket } from './browser-socket.js'
import { ConfigError, ConnectionError, closedError } from './errors.js'
import { fetchTransportNames } from './option-names.js'
import { connectionError } from './requester.js'
import type { MessageSocket, SocketRequest, Transport, TransportRequest, TransportResponse } from './transport.js'

export interface FetchTransportSettings {
  /** Left out: the place that the page comes from. */
  readonly server?: string
  /** Such as `include`, where cookies of a proxy say who it is. */
  readonly credentials?: 'include' | 'omit' | 'same-origin'
}

interface Surroundings {
  readonly WebSocket?: new (url: string, protocols: readonly string[]) => BuiltInSocket
  readonly location?: { readonly origin: string }
}

export class FetchTransport implements Transport {
  private readonly settings: FetchTransportSettings
  private readonly server: string
  private readonly controller = new AbortController()

  constructor(settings: FetchTransportSettings = {}) {
    refuseUnknownOptions('FetchTransport', settings, fetchTransportNames)
    this.settings = settings
    this.server = (settings.server ?? (globalThis as Surroundings).location?.origin ?? '').replace(/\/$/, '')
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const headers = headersOf(request.headers)
    const { credentials } = this.settings
    const { signal: own } = this.controller
    try {
      const response = await fetch(`${this.server}${request.path}`, {
        method: request.method,
        headers,
        ...(request.body === undefined ? {} : { body: request.body }),
        ...(credentials === undefined ? {} : { credentials }),
        signal: request.signal === undefined ? own : AbortSignal.any([own, request.signal]),
        // Never followed: what is sent, and in whose name, is for this server only.
        redirect: 'manual',
      })
      return responseOf(response, (thrown) => connectionError(thrown, `the answer of ${this.server} broke off`, request.signal))
    } catch (thrown) {
      throw connectionError(thrown, `${request.method} ${this.server}`, request.signal)
    }
  }

  /** A browser can send no headers with it: a token goes in the name of a protocol. */
  openSocket({ path, protocols, credential, signal }: SocketRequest): Promise<MessageSocket> {
    const { WebSocket: Socket } = globalThis as Surroundings
    if (Socket === undefined) return Promise.reject(new ConnectionError('there is no WebSocket here'))
    const token = /^Bearer (.+)$/.exec(credential.authorization ?? '')?.[1]
    const offered = token === undefined ? protocols : [...protocols, ...tokenProtocols(token)]
    const signals = [this.controller.signal, ...(signal === undefined ? [] : [signal])]
    return new Promise((resolve, reject) => {
      for (const each of signals) each.throwIfAborted()
      const socket = new Socket(`${this.server.replace(/^http/, 'ws')}${path}`, offered)
      socket.binaryType = 'arraybuffer'
      let opened: BrowserMessageSocket | undefined
      const stop = (reason: unknown): void => {
        if (opened !== undefined) opened.cutOff(reason)
        else socket.close()
        reject(reason)
      }
      const leaves = signals.map((each) => onAbort(each, () => stop(each.reason)))
      const leave = (): void => {
        for (const each of leaves) each()
      }
      const fail = (): void => {
        leave()
        reject(new ConnectionError(`cannot connect to ${this.server}`))
      }
      socket.onopen = () => {
        opened = new BrowserMessageSocket(socket, leave)
        resolve(opened)
      }
      socket.onerror = fail
      socket.onclose = fail
    })
  }

  /** Ends what is under way, connections included. */
  close(): void {
    this.controller.abort(closedError())
  }
}

/** Several values of one header would be sent as one, and a user who is in two groups would be in another one. */
function headersOf(headers: TransportRequest['headers']): Headers {
  const sent = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    const values = typeof value === 'string' ? [value] : value
    if (values.length > 1) throw new ConfigError(`fetch can send one value of the header ${name}, and here are ${values.length}`)
    for (const one of values) sent.set(name, one)
  }
  return sent
}

const tokenProtocols = (token: string): readonly string[] => {
  const text = btoa(token).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
  return identityNames.map((name) => `base64url.bearer.authorization.${identityOf(name).groupSuffix}.${text}`)
}

function responseOf(response: Response, explain: (thrown: unknown) => unknown): TransportResponse {
  return {
    // Browsers say of a redirect only that it is one.
    status: response.type === 'opaqueredirect' ? 302 : response.status,
    header: (name) => response.headers.get(name) ?? '',
    text: async () => {
      const body = new BoundedBody(response.status)
      for await (const chunk of readChunks(response, explain)) body.append(chunk)
      return new TextDecoder().decode(body.bytes)
    },
    chunks: () => readChunks(response, explain),
    discard: () => void response.body?.cancel().catch(() => undefined),
  }
}

async function* readChunks(response: Response, explain: (thrown: unknown) => unknown): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader()
  if (reader === undefined) return
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value as Uint8Array
    }
  } catch (thrown) {
    throw explain(thrown)
  } finally {
    reader.cancel().catch(() => undefined)
  }
}
