// Fixture: HTTPS webhooks with their own CA that respond by path, and their configurations.

import type { ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { expectStatus } from '../../../../test/kit/fixtures.js'
import { issueCertificate } from '../../src/net/tls/issue-certificate.js'

export interface Review {
  readonly apiVersion: string
  readonly kind: string
  readonly request: { readonly uid: string; readonly operation: string; readonly [field: string]: unknown }
}

/** Fields of the response; a function writes the response itself. */
type WebhookResponse = { readonly [field: string]: unknown } | ((response: ServerResponse, review: Review) => void)
type WebhookBehaviour = (path: string, review: Review) => WebhookResponse | Promise<WebhookResponse>

const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 }
const authority = { ...issueCertificate({ commonName: 'hooks', use: 'authority', ...validity }), commonName: 'hooks' }

export const caBundle = Buffer.from(authority.cert).toString('base64')

export const certificateFor = (...hosts: readonly string[]) =>
  issueCertificate({ commonName: 'hook', hosts: [...hosts], use: 'server', ...validity }, authority)

export interface TlsWebhook {
  readonly url: string
  readonly port: number
  readonly reviews: { readonly path: string; readonly review: Review }[]
  readonly server: Server
  close(): Promise<void>
}

export const patchOf = (operations: readonly object[]) => ({
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
})

export async function startWebhook(respond: WebhookBehaviour, hosts: readonly string[] = ['127.0.0.1']): Promise<TlsWebhook> {
  const reviews: { readonly path: string; readonly review: Review }[] = []
  const server = createServer(certificateFor(...hosts), (request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', async () => {
      const review = JSON.parse(Buffer.concat(parts).toString()) as Review
      const path = (request.url ?? '').replace(/\?.*/, '')
      reviews.push({ path, review })
      const content = await respond(path, review)
      if (typeof content === 'function') content(response, review)
      else sendReview(response, review, content)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    reviews,
    server,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

export function sendReview(response: ServerResponse, review: Review, content: object): void {
  const { apiVersion, kind, request } = review
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ apiVersion, kind, response: { uid: request.uid, allowed: true, ...content } }))
}

export const configurationsPath = (kind: 'mutating' | 'validating', name = ''): string =>
  `/apis/admissionregistration.cluster.io/v1/${kind}webhookconfigurations${name === '' ? '' : `/${name}`}`

export const webhookEntry = (url: string, more: object = {}) => ({
  name: `${new URL(url).pathname.slice(1) || 'hook'}.example.com`,
  clientConfig: { url, caBundle },
  rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  timeoutSeconds: 5,
  ...more,
})

export async function configure(
  client: ApiClient,
  kind: 'mutating' | 'validating',
  name: string,
  webhooks: readonly object[],
): Promise<void> {
  expectStatus(await client.post(configurationsPath(kind), { metadata: { name }, webhooks }), 201)
}
