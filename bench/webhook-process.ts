// Processes of the webhook workload: a webhook that allows everything, and a bare server that echoes bodies and, under `/webhook`,
// first posts a review to that webhook.

import { Agent, createServer, request as sendRequest } from 'node:https'
import type { AddressInfo } from 'node:net'

export type WebhookProcessStart =
  | { readonly role: 'webhook'; readonly cert: string; readonly key: string }
  | {
      readonly role: 'server'
      readonly cert: string
      readonly key: string
      readonly url: string
      readonly ca: string
      readonly review: string
    }

function serveWebhook({ cert, key }: { readonly cert: string; readonly key: string }): void {
  let lastReview: string | undefined
  const server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      lastReview = Buffer.concat(chunks).toString()
      const uid = /"uid":"([^"]*)"/.exec(lastReview)?.[1] ?? ''
      response.setHeader('content-type', 'application/json')
      const [, apiVersion = ''] = /"apiVersion":"([^"]*)"/.exec(lastReview) ?? []
      response.end(`{"kind":"AdmissionReview","apiVersion":"${apiVersion}","response":{"uid":"${uid}","allowed":true}}`)
    })
  })
  process.on('message', () => process.send?.(lastReview))
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
}

function post(url: URL, agent: Agent, body: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
    const sent = sendRequest(url, { method: 'POST', agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve(Buffer.concat(chunks).toString()))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Echoes each request body; under `/webhook` after the review was posted. */
function serveEcho({ cert, key, url, ca, review }: Extract<WebhookProcessStart, { readonly role: 'server' }>): void {
  const agent = new Agent({ keepAlive: true, ca })
  const webhookUrl = new URL(url)
  const server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      if (request.url === '/webhook') {
        const reply = JSON.parse(await post(webhookUrl, agent, Buffer.from(review))) as { response: { allowed: boolean } }
        if (!reply.response.allowed) throw new Error('the webhook denied the review')
      }
      const body = Buffer.concat(chunks)
      response.writeHead(201, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
    })
  })
  // The connection may be idle while the other side is measured.
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
}

const start = JSON.parse(process.argv[2] ?? '{}') as WebhookProcessStart
process.on('disconnect', () => process.exit(0))
if (start.role === 'webhook') serveWebhook(start)
else serveEcho(start)
