// Transport over `fetch` and the built-in WebSocket, for browsers. TLS is configured in the browser.

import { identityNames, identityOf } from '@cluster-apiserver/api/api/identity.js'
import { onAbort } from '@cluster-apiserver/api/base/async/on-abort.js'
import { type OptionNames, refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'
import { ConfigError, ConnectionError, closedError, connectionError } from '../errors.js'
import { BoundedBody } from './byte-buffer.js'
import type { MessageSocket, SocketRequest, Transport, TransportRequest, TransportResponse } from './transport.js'
import { type WebSocketLike, WebSocketMessages } from './web-socket-messages.js'

export interface FetchTransportSettings {
  /** Default: the origin of the page. */
  readonly server?: string
  /** `include` if a proxy authenticates by cookies. */
  readonly credentials?: 'include' | 'omit' | 'same-origin'
}

const fetchTransportNames: OptionNames<FetchTransportSettings> = { server: true, credentials: true }

interface BrowserGlobals {
  readonly WebSocket?: new (url: string, protocols: readonly string[]) => WebSocketLike
  readonly location?: { readonly origin: string }
}

export class FetchTransport implements Transport {
  private readonly settings: FetchTransportSettings
  private readonly server: string
  private readonly controller = new AbortController()

  constructor(settings: FetchTransportSettings = {}) {
    refuseUnknownOptions('FetchTransport', settings, fetchTransportNames)
    this.settings = settings
    this.server = (settings.server ?? (globalThis as BrowserGlobals).location?.origin ?? '').replace(/\/$/, '')
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const headers = headersOf(request.headers)
    const { credentials } = this.settings
    const { signal: closeSignal } = this.controller
    try {
      const response = await fetch(`${this.server}${request.path}`, {
        method: request.method,
        headers,
        ...(request.body === undefined ? {} : { body: request.body }),
        ...(credentials === undefined ? {} : { credentials }),
        signal: request.signal === undefined ? closeSignal : AbortSignal.any([closeSignal, request.signal]),
        // A redirect would send credentials to another server.
        redirect: 'manual',
      })
      return responseOf(response, (thrown) => connectionError(thrown, `the response of ${this.server} broke off`, request.signal))
    } catch (thrown) {
      throw connectionError(thrown, `${request.method} ${this.server}`, request.signal)
    }
  }

  /** Sends the token as a subprotocol: browsers cannot set headers of a WebSocket request. */
  openSocket({ path, protocols, credential, signal }: SocketRequest): Promise<MessageSocket> {
    const { WebSocket: Socket } = globalThis as BrowserGlobals
    if (Socket === undefined) return Promise.reject(new ConnectionError('this environment has no WebSocket'))
    const token = /^Bearer (.+)$/.exec(credential.authorization ?? '')?.[1]
    const offered = token === undefined ? protocols : [...protocols, ...tokenProtocols(token)]
    const signals = [this.controller.signal, ...(signal === undefined ? [] : [signal])]
    return new Promise((resolve, reject) => {
      for (const source of signals) source.throwIfAborted()
      const socket = new Socket(`${this.server.replace(/^http/, 'ws')}${path}`, offered)
      socket.binaryType = 'arraybuffer'
      let opened: WebSocketMessages | undefined
      const stop = (reason: unknown): void => {
        if (opened !== undefined) opened.abort(reason)
        else socket.close()
        reject(reason)
      }
      const unsubscribers = signals.map((source) => onAbort(source, () => stop(source.reason)))
      const unsubscribe = (): void => {
        for (const unsubscribeOne of unsubscribers) unsubscribeOne()
      }
      const fail = (): void => {
        unsubscribe()
        reject(new ConnectionError(`cannot connect to ${this.server}`))
      }
      socket.onopen = () => {
        opened = new WebSocketMessages(socket, { onClose: unsubscribe })
        resolve(opened)
      }
      socket.onerror = fail
      socket.onclose = fail
    })
  }

  /** Aborts all requests and WebSockets. */
  close(): void {
    this.controller.abort(closedError())
  }
}

/** Rejects repeated headers: `fetch` joins their values, so two impersonated groups would become one. */
function headersOf(headers: TransportRequest['headers']): Headers {
  const sent = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    const values = typeof value === 'string' ? [value] : value
    if (values.length > 1) throw new ConfigError(`fetch can send only one value of the header ${name}, not ${values.length}`)
    for (const text of values) sent.set(name, text)
  }
  return sent
}

const tokenProtocols = (token: string): readonly string[] => {
  const text = btoa(token).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
  return identityNames.map((name) => `base64url.bearer.authorization.${identityOf(name).groupSuffix}.${text}`)
}

function responseOf(response: Response, explain: (thrown: unknown) => unknown): TransportResponse {
  return {
    // Browsers hide the status of a redirect.
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
