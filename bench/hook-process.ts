// The processes around webhooks: a hook that allows everything, and a bare server that posts a review to it before it answers.

import { Agent, createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'

export type HookProcessStart =
  | { readonly role: 'hook'; readonly cert: string; readonly key: string }
  | {
      readonly role: 'server'
      readonly cert: string
      readonly key: string
      readonly url: string
      readonly ca: string
      readonly review: string
    }

function serve({ cert, key }: { readonly cert: string; readonly key: string }): void {
  let last: string | undefined
  const server = createServer({ cert, key }, (asked, response) => {
    const parts: Buffer[] = []
    asked.on('data', (part: Buffer) => parts.push(part))
    asked.on('end', () => {
      last = Buffer.concat(parts).toString()
      const uid = /"uid":"([^"]*)"/.exec(last)?.[1] ?? ''
      response.setHeader('content-type', 'application/json')
      const [, apiVersion = ''] = /"apiVersion":"([^"]*)"/.exec(last) ?? []
      response.end(`{"kind":"AdmissionReview","apiVersion":"${apiVersion}","response":{"uid":"${uid}","allowed":true}}`)
    })
  })
  process.on('message', () => process.send?.(last))
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
}

function post(url: URL, agent: Agent, body: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () => resolve(Buffer.concat(parts).toString()))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Answers each request with as much as it was sent; under `/hook` only after the review was posted. */
function answer({ cert, key, url, ca, review }: Extract<HookProcessStart, { readonly role: 'server' }>): void {
  const agent = new Agent({ keepAlive: true, ca })
  const place = new URL(url)
  const server = createServer({ cert, key }, (asked, response) => {
    const parts: Buffer[] = []
    asked.on('data', (part: Buffer) => parts.push(part))
    asked.on('end', async () => {
      if (asked.url === '/hook') {
        const said = JSON.parse(await post(place, agent, Buffer.from(review))) as { response: { allowed: boolean } }
        if (!said.response.allowed) throw new Error('it was not allowed')
      }
      const body = Buffer.concat(parts)
      response.writeHead(201, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
    })
  })
  // The other side may take its turn for longer than usual.
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
}

const start = JSON.parse(process.argv[2] ?? '{}') as HookProcessStart
process.on('disconnect', () => process.exit(0))
if (start.role === 'hook') serve(start)
else answer(start)
