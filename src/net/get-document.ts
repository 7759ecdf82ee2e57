// GET of a document from a server of the cluster, or another method with or without a body, over HTTPS and within a time and a size: where it has not changed since, it is not sent again.

import { request } from 'node:https'
import { AnswerTimeoutError, ask } from './ask.js'
import { describeNetworkFailure } from './network-failure.js'
import type { Dial } from './tunnel.js'
import { tlsOptions, type UpstreamTls, wayOf } from './upstream.js'

export interface DocumentRequest extends UpstreamTls {
  readonly url: string
  /** GET if left out. */
  readonly method?: string
  /** What is sent with it. */
  readonly body?: string
  readonly headers?: { readonly [name: string]: string | readonly string[] }
  /** Of everything, from the look-up of the name to the last byte. */
  readonly timeoutMs: number
  /** Of the document. 0: only whether it is there is asked, and none of it is read. */
  readonly mostBytes: number
  readonly signal?: AbortSignal
  /** Left out: directly. */
  readonly dial?: Dial | undefined
}

export interface ReceivedDocument {
  readonly status: number
  readonly contentType: string
  /** Empty where it has none. */
  readonly tag: string
  readonly body: Buffer
}

/** The document in time, whatever its status. Rejects with one sentence in the words of the reference. */
export async function getDocument({
  url,
  method = 'GET',
  body: content,
  headers = {},
  timeoutMs,
  mostBytes,
  signal,
  dial,
  ...tls
}: DocumentRequest): Promise<ReceivedDocument> {
  // For DELETE the platform does not say by itself how long a body is.
  const length = content === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(content)) }
  const given = { ...headers, ...length } as { [name: string]: string | string[] }
  const sent = request(url, { ...wayOf(dial), method, headers: given, ...tlsOptions(tls) })
  try {
    const {
      status,
      headers: received,
      body,
    } = await ask(sent, { ...(content === undefined ? {} : { body: content }), timeoutMs, mostBytes, signal })
    const { etag: tag = '', 'content-type': contentType = '' } = received
    return { status, contentType, tag, body }
  } catch (thrown) {
    throw new Error(`${verbOf(method)} ${JSON.stringify(url)}: ${describe(thrown, signal)}`, { cause: thrown })
  }
}

const verbOf = (method: string): string => `${method.charAt(0)}${method.slice(1).toLowerCase()}`

function describe(thrown: unknown, signal: AbortSignal | undefined): string {
  if (signal?.aborted) return 'context canceled'
  if (thrown instanceof AnswerTimeoutError) return 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
  return describeNetworkFailure(thrown)
}
