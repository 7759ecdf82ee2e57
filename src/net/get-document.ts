// GET of a document from a server of the cluster, or another method without a body, over HTTPS and within a time and a size: where it has not changed since, it is not sent again.

import { type RequestOptions, request } from 'node:https'
import type { UpstreamTls } from './upstream.js'
import { upstreamError } from './upstream-error.js'

export interface DocumentRequest extends UpstreamTls {
  readonly url: string
  /** GET if left out. */
  readonly method?: string
  readonly headers?: { readonly [name: string]: string | readonly string[] }
  /** Of everything, from the look-up of the name to the last byte. */
  readonly timeoutMs: number
  /** Of the document. 0: only whether it is there is asked, and none of it is read. */
  readonly mostBytes: number
  readonly signal?: AbortSignal
}

export interface ReceivedDocument {
  readonly status: number
  readonly contentType: string
  /** Empty where it has none. */
  readonly tag: string
  readonly body: Buffer
}

/** The document in time, whatever its status; redirects are not followed. Rejects with one sentence in the words of the reference. */
export function getDocument({
  url,
  method = 'GET',
  headers = {},
  timeoutMs,
  mostBytes,
  signal,
  ...tls
}: DocumentRequest): Promise<ReceivedDocument> {
  let isConnected = false
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      sent.destroy()
    }
    const fail = (why: string): void => {
      leave()
      reject(new Error(`${verbOf(method)} ${JSON.stringify(url)}: ${why}`))
    }
    const failWith = (error: unknown): void => fail(upstreamError(error, isConnected).message)
    const abort = (): void => fail('context canceled')
    const sent = request(url, { agent: false, method, headers: headers as { [name: string]: string | string[] }, ...tlsOptions(tls) })
    sent.on('socket', (socket) => {
      socket.once('secureConnect', () => {
        isConnected = true
      })
    })
    sent.on('response', (response) => {
      const { statusCode: status = 0, headers: received } = response
      const chunks: Buffer[] = []
      let bytes = 0
      const finish = (): void => {
        leave()
        const { etag: tag = '', 'content-type': contentType = '' } = received
        resolve({ status, contentType, tag, body: Buffer.concat(chunks) })
      }
      if (mostBytes === 0) {
        finish()
        return
      }
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > mostBytes) fail(`the answer is longer than ${mostBytes} bytes`)
        else chunks.push(chunk)
      })
      response.on('error', (error) => failWith(error))
      response.on('end', finish)
    })
    const late = (): void => fail('context deadline exceeded (Client.Timeout exceeded while awaiting headers)')
    const timer = setTimeout(late, timeoutMs)
    // Whatever else happens to a connection that is not needed any more concerns nobody.
    sent.on('error', failWith)
    signal?.addEventListener('abort', abort, { once: true })
    if (signal?.aborted) abort()
    else sent.end()
  })
}

const verbOf = (method: string): string => `${method.charAt(0)}${method.slice(1).toLowerCase()}`

function tlsOptions({ ca, insecure = false, serverName, cert, key }: UpstreamTls): RequestOptions {
  return {
    rejectUnauthorized: !insecure,
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  }
}
