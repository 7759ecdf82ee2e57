// GET of a small document from somebody else's server, within a time and a size.

import { request } from 'node:https'

export interface GetOptions {
  /** PEM; undefined: the authorities of this machine. */
  readonly ca?: string | undefined
  readonly headers?: { readonly [name: string]: string }
  readonly timeoutMs: number
  readonly mostBytes: number
}

/** Rejects with one sentence that names the address, and nothing that was sent or received. */
export function getText(url: string, { ca, headers = {}, timeoutMs, mostBytes }: GetOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      clearTimeout(timer)
      sent.destroy()
      reject(new Error(`GET ${url}: ${why}`))
    }
    const sent = request(url, { agent: false, headers, ...(ca === undefined ? {} : { ca }) }, (response) => {
      const { statusCode = 0 } = response
      if (statusCode < 200 || statusCode > 299) {
        fail(`answered with status ${statusCode}`)
        return
      }
      const chunks: Buffer[] = []
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > mostBytes) fail(`answered with more than ${mostBytes} bytes`)
        else chunks.push(chunk)
      })
      response.on('error', (error) => fail(error.message))
      response.on('end', () => {
        clearTimeout(timer)
        resolve(Buffer.concat(chunks).toString('utf8'))
      })
    })
    // Of everything, from the look-up of the name to the last byte.
    const timer = setTimeout(() => fail(`no answer within ${timeoutMs} ms`), timeoutMs)
    sent.on('error', (error) => fail(error.message))
    sent.end()
  })
}
