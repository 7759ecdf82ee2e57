// Sends the requests of audit.json as their users, and serves the webhooks of its objects.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Agent, createServer, request as httpsRequest, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { RunningServer } from 'cluster-apiserver'
import { issueCertificate } from '../../packages/server/src/net/tls/issue-certificate.js'
import { until } from '../kit/fixtures.js'
import { secureContextFor } from '../kit/secure-context.js'
import type { AuditCase, AuditRequest, WebhookReply } from './audit-events.js'
import type { TokenUser } from './token-users.js'

export const auditUsers: readonly TokenUser[] = [
  { token: 'admin-token', name: 'admin', uid: 'admin-uid', groups: ['system:masters'] },
  { token: 'alice-token', name: 'alice', uid: 'alice-uid', groups: ['dev', 'qa'] },
  { token: 'bob-token', name: 'bob', uid: 'bob-uid', groups: [] },
]

interface Crd {
  readonly spec: { readonly group: string; readonly versions: readonly { readonly name: string }[] }
}

/** User-Agent of preparing requests, to separate their events from the compared ones. */
export const setupAgent = 'audit-facts/0'

/** Addresses of the webhooks, and one without a listener. */
const webhookPort = /https:\/\/127\.0\.0\.1:9[56]50\//g

export class AuditSender {
  private readonly agent: Agent
  private readonly url: URL
  private readonly webhooks: WebhookServer
  private readonly tokens = new Map<string, string>()

  private constructor(server: RunningServer, webhooks: WebhookServer) {
    this.url = new URL(server.url)
    this.agent = new Agent({ keepAlive: true, ...secureContextFor(server.caPem) })
    this.webhooks = webhooks
  }

  static async open(server: RunningServer): Promise<AuditSender> {
    return new AuditSender(server, await WebhookServer.open())
  }

  async close(): Promise<void> {
    this.agent.destroy()
    await this.webhooks.close()
  }

  async prepare({ setup = [], requests = [], webhooks = {}, note = '' }: AuditCase): Promise<void> {
    this.webhooks.replies = webhooks
    // Webhooks of other cases must be deleted: webhook calls are counted.
    for (const kind of ['mutating', 'validating']) {
      const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`
      await this.send({ user: 'admin', method: 'DELETE', path, body: undefined }, setupAgent)
    }
    for (const request of setup) {
      const { code } = await this.send(request, setupAgent)
      if (code === 201 && request.path.endsWith('/customresourcedefinitions')) await this.isServed(request.body as Crd)
    }
    for (const { user } of requests) {
      const account = /^system:serviceaccount:([^:]+):(.+)$/.exec(user)
      if (account === null) continue
      const pod = /bound to the pod (\S+)/.exec(note)?.[1]
      this.tokens.set(user, await this.accountToken(account[1] ?? '', account[2] ?? '', pod))
    }
  }

  private async isServed({ spec: { group, versions } }: Crd): Promise<void> {
    const path = `/apis/${group}/${versions[0]?.name}`
    await until(
      () => this.send({ user: 'admin', method: 'GET', path, body: undefined }, setupAgent),
      ({ code }) => code === 200,
    )
  }

  private async accountToken(namespace: string, name: string, pod: string | undefined): Promise<string> {
    const boundObjectRef = pod === undefined ? {} : { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: pod } }
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: null, ...boundObjectRef } }
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`
    const { text } = await this.send({ user: 'admin', method: 'POST', path, body }, setupAgent)
    return (JSON.parse(text) as { status?: { token?: string } }).status?.token ?? ''
  }

  send(
    { user, method, path, headers = {}, body, bodyBase64 }: AuditRequest,
    agent = 'audit-facts/1.0',
  ): Promise<{ readonly code: number; readonly text: string }> {
    const payload = bodyBase64 === undefined ? this.payloadOf(body) : Buffer.from(bodyBase64, 'base64')
    const allHeaders: Record<string, string | readonly string[]> = { 'User-Agent': agent, Accept: 'application/json' }
    if (payload !== undefined) Object.assign(allHeaders, { 'Content-Type': 'application/json', 'Content-Length': String(payload.length) })
    if (user !== 'anonymous') allHeaders['Authorization'] = `Bearer ${this.tokens.get(user) ?? `${user}-token`}`
    for (const [name, value] of Object.entries(headers)) {
      if (value === null) delete allHeaders[name]
      else allHeaders[name] = value
    }
    return new Promise((resolve, reject) => {
      const options = { method, path, agent: this.agent, headers: allHeaders as Record<string, string | string[]> }
      const request = httpsRequest(this.url, options, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => resolve({ code: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
      })
      request.on('error', reject)
      request.end(payload)
    })
  }

  private payloadOf(body: unknown): Buffer | undefined {
    if (body === undefined) return undefined
    if (typeof body === 'string') return Buffer.from(body)
    const text = JSON.stringify(body).replace(webhookPort, `https://127.0.0.1:${this.webhooks.port}/`)
    return Buffer.from(text.replaceAll('<caBundle>', Buffer.from(this.webhooks.caPem).toString('base64')))
  }
}

/** Responds to admission reviews as the case says. */
class WebhookServer {
  replies: NonNullable<AuditCase['webhooks']> = {}
  readonly caPem: string
  private readonly server: Server

  private constructor() {
    const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 }
    const authority = { ...issueCertificate({ commonName: 'hooks', use: 'authority', ...validity }), commonName: 'hooks' }
    this.caPem = authority.cert
    const pair = issueCertificate({ commonName: 'hook', hosts: ['127.0.0.1'], use: 'server', ...validity }, authority)
    this.server = createServer(pair, (request, response) => this.respond(request, response))
  }

  static async open(): Promise<WebhookServer> {
    const opened = new WebhookServer()
    await new Promise<void>((resolve) => opened.server.listen(0, '127.0.0.1', resolve))
    return opened
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  close(): Promise<void> {
    this.server.closeAllConnections()
    return new Promise((resolve) => this.server.close(() => resolve()))
  }

  private respond(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const reply = this.replies[new URL(request.url ?? '/', 'https://hook').pathname.slice(1)]
      setTimeout(() => sendReply(response, reply, Buffer.concat(chunks).toString()), reply?.delayMs ?? 0)
    })
  }
}

function sendReply(response: ServerResponse, reply: WebhookReply | undefined, sent: string): void {
  if (reply?.response === undefined) {
    response.writeHead(reply?.httpStatus ?? 404, { 'Content-Type': 'application/json' }).end()
    return
  }
  const { apiVersion, request: review } = JSON.parse(sent) as { apiVersion: string; request: { uid: string } }
  const { patch, ...rest } = reply.response
  const patched = patch === undefined ? {} : { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }
  response.setHeader('Content-Type', 'application/json')
  response.end(JSON.stringify({ apiVersion, kind: 'AdmissionReview', response: { uid: review.uid, ...rest, ...patched } }))
}
