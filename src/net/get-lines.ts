// GET of an answer that does not end, line by line: what somebody else's server tells of changes. No faster than the lines are taken, and no
// longer than the server says something.

import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { GatheredParts } from './gathered-parts.js'
import type { Dial } from './tunnel.js'
import { tlsOptions, type UpstreamTls, wayOf } from './upstream.js'

export interface LinesRequest extends UpstreamTls {
  readonly url: string
  readonly headers?: { readonly [name: string]: string | readonly string[] }
  /** Until the answer begins. */
  readonly headMs: number
  /** How long nothing may come. */
  readonly idleMs: number
  readonly mostLineBytes: number
  readonly signal: AbortSignal
  /** Left out: directly. */
  readonly dial?: Dial | undefined
}

/** There was an answer, and no lines in it. */
export class NoLinesError extends Error {
  override readonly name = 'NoLinesError'
  readonly status: number

  constructor(status: number) {
    super(`it was answered with status ${status}`)
    this.status = status
  }
}

/** Ends with the answer; throws where there is none, or where it breaks off. */
export async function* getLines({
  url,
  headers = {},
  headMs,
  idleMs,
  mostLineBytes,
  signal,
  dial,
  ...tls
}: LinesRequest): AsyncGenerator<Buffer, void, void> {
  const given = headers as { [name: string]: string | string[] }
  const sent = request(url, { ...wayOf(dial), headers: given, signal, timeout: idleMs, ...tlsOptions(tls) })
  sent.on('timeout', () => sent.destroy(new Error(`nothing came for ${idleMs} ms`)))
  try {
    const response = await headOf(sent, headMs)
    if (response.statusCode !== 200) throw new NoLinesError(response.statusCode ?? 0)
    const parts = new GatheredParts()
    for await (const chunk of response as AsyncIterable<Buffer>) {
      let start = 0
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        parts.add(chunk.subarray(start, end))
        const line = parts.whole()
        parts.clear()
        yield line
        start = end + 1
      }
      if (start === chunk.length) continue
      parts.add(chunk.subarray(start))
      if (parts.bytes > mostLineBytes) throw new Error(`a line is longer than ${mostLineBytes} bytes`)
    }
  } finally {
    sent.destroy()
  }
}

const newline = 0x0a

async function headOf(sent: ClientRequest, headMs: number): Promise<IncomingMessage> {
  const ending = new AbortController()
  // Whatever happens to a connection that nobody needs any more concerns nobody.
  sent.on('error', () => undefined)
  sent.end()
  try {
    const late = sleep(headMs, undefined, { signal: ending.signal, ref: false }).then(() => {
      throw new Error(`no answer within ${headMs} ms`)
    })
    late.catch(() => undefined)
    const [response] = (await Promise.race([once(sent, 'response'), late])) as [IncomingMessage]
    return response
  } finally {
    ending.abort()
  }
}
