// GET of a small document from somebody else's server, within a time and a size.

import { request } from 'node:https'
import { ask } from './ask.js'
import type { Dial } from './tunnel.js'
import { wayOf } from './upstream.js'

export interface GetOptions {
  /** PEM; undefined: the authorities of this machine. */
  readonly ca?: string | undefined
  readonly headers?: { readonly [name: string]: string }
  readonly timeoutMs: number
  readonly mostBytes: number
  /** Left out: directly. */
  readonly dial?: Dial | undefined
}

/** Rejects with one sentence that names the address, and nothing that was sent or received. */
export async function getText(url: string, { ca, headers = {}, timeoutMs, mostBytes, dial }: GetOptions): Promise<string> {
  const refuse = (why: string): never => {
    throw new Error(`GET ${url}: ${why}`)
  }
  const sent = request(url, { ...wayOf(dial), headers, ...(ca === undefined ? {} : { ca }) })
  const { status, body } = await ask(sent, { timeoutMs, mostBytes }).catch((error: Error) => refuse(error.message))
  return status < 200 || status > 299 ? refuse(`answered with status ${status}`) : body.toString('utf8')
}
