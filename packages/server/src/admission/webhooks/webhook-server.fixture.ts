// Fixture: a webhook server that sends the replies of the test and records the calls.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface SentReview {
  readonly kind: string
  readonly apiVersion: string
  readonly request: { readonly uid: string; readonly [field: string]: unknown }
}

export interface WebhookCall {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly review: SentReview
}

/** Fields of the response; `patch` is a list of operations. A function writes the whole HTTP response. */
export type WebhookReply = { readonly [field: string]: unknown } | ((response: ServerResponse, review: SentReview) => void)

interface WebhookServer {
  readonly url: string
  readonly calls: WebhookCall[]
  close(): void
}

export async function webhookServer(reply: (call: WebhookCall) => WebhookReply | Promise<WebhookReply>): Promise<WebhookServer> {
  const calls: WebhookCall[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const review = JSON.parse(Buffer.concat(chunks).toString()) as SentReview
      const call = { url: request.url ?? '', headers: request.headers, review }
      calls.push(call)
      const content = await reply(call)
      if (typeof content === 'function') content(response, review)
      else response.end(JSON.stringify({ kind: review.kind, apiVersion: review.apiVersion, response: responseOf(content, review) }))
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
  const patchFields = patch === undefined ? {} : { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }
  return { uid: request.uid, allowed: true, ...patchFields, ...fields }
}
