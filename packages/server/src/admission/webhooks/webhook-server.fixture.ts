// A hook for tests: answers as a test says, and keeps what it was sent.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SentReview {
  readonly kind: string
  readonly apiVersion: string
  readonly request: { readonly uid: string; readonly [field: string]: unknown }
}

export interface HookCall {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly review: SentReview
}

/** Fields of the response; `patch` is a list of operations. A function writes the whole answer itself. */
export type HookReply = { readonly [field: string]: unknown } | ((response: ServerResponse, review: SentReview) => void)

export interface HookServer {
  readonly url: string
  readonly calls: HookCall[]
  close(): void
}

export async function hookServer(reply: (call: HookCall) => HookReply | Promise<HookReply>): Promise<HookServer> {
  const calls: HookCall[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', async () => {
      const review = JSON.parse(Buffer.concat(parts).toString()) as SentReview
      const call = { url: request.url ?? '', headers: request.headers, review }
      calls.push(call)
      const answer = await reply(call)
      if (typeof answer === 'function') answer(response, review)
      else response.end(JSON.stringify({ kind: review.kind, apiVersion: review.apiVersion, response: responseOf(answer, review) }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function responseOf({ patch, ...fields }: { readonly [field: string]: unknown }, { request }: SentReview): object {
  const patched = patch === undefined ? {} : { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }
  return { uid: request.uid, allowed: true, ...patched, ...fields }
}
