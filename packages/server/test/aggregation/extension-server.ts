// Fixture: an extension API server over HTTPS with its own CA, one kind in memory, watches, discovery and OpenAPI documents,
// and configurable misbehaviour.

import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { expectStatus, until } from '../../../../test/kit/fixtures.js'
import { issueCertificate } from '../../src/net/tls/issue-certificate.js'

const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 }

export interface ReceivedRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly rawHeaders: readonly string[]
  /** Common name of the presented client certificate. */
  readonly client: string
}

export type Behaviour = (request: IncomingMessage, response: ServerResponse) => boolean | undefined

interface Gadget {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: { readonly name: string; readonly [key: string]: unknown }
  readonly [key: string]: unknown
}

export class ExtensionServer {
  readonly group: string
  readonly ca: string
  port = 0
  readonly seen: ReceivedRequest[] = []
  /** Called first; returns true if it handles the request. */
  behaviour: Behaviour = () => undefined
  readonly gadgets = new Map<string, Gadget>()
  private readonly server: Server
  private readonly sockets = new Set<Socket>()
  private readonly watchers = new Set<ServerResponse>()
  private revision = 1

  private constructor(group: string, proxyCa: string | undefined) {
    this.group = group
    const authority = { ...issueCertificate({ commonName: 'extensions', use: 'authority', ...validity }), commonName: 'extensions' }
    this.ca = authority.cert
    const hosts = [`${serviceName}.default.svc`]
    const pair = issueCertificate({ commonName: 'extension', hosts, use: 'server', ...validity }, authority)
    this.server = createServer(
      { ...pair, requestCert: true, rejectUnauthorized: false, ...(proxyCa === undefined ? {} : { ca: proxyCa }) },
      (request, response) => this.serve(request, response),
    )
    this.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => this.sockets.delete(socket))
    })
    this.server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
      this.record(request)
      socket.on('error', () => undefined)
      if (request.url?.endsWith('/slow')) return // never responds to the upgrade
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
      socket.pipe(socket)
    })
  }

  static async start(group: string, proxyCa?: string, host = '127.0.0.1'): Promise<ExtensionServer> {
    const server = new ExtensionServer(group, proxyCa)
    await once(server.server.listen(0, host), 'listening')
    server.port = (server.server.address() as AddressInfo).port
    return server
  }

  /** Received requests with exactly this path and query. */
  seenAt(path: string): readonly ReceivedRequest[] {
    return this.seen.filter(({ url }) => url === path)
  }

  close(): void {
    this.server.close()
    for (const socket of this.sockets) socket.destroy()
  }

  resetConnections(): void {
    for (const socket of this.sockets) socket.resetAndDestroy()
  }

  private record(request: IncomingMessage): void {
    const { method = '', url = '', headers, rawHeaders } = request
    const socket = request.socket as TLSSocket
    const certificate = socket.authorized ? socket.getPeerCertificate() : undefined
    this.seen.push({ method, url, headers, rawHeaders, client: String(certificate?.subject?.CN ?? '') })
  }

  private serve(request: IncomingMessage, response: ServerResponse): void {
    this.record(request)
    response.on('error', () => undefined)
    if (this.behaviour(request, response) === true) return
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://x')
    const root = `/apis/${this.group}/v1`
    if (pathname === root) send(response, 200, this.resources())
    else if (pathname === '/openapi/v2') sendTagged(request, response, this.openApiV2())
    else if (pathname === '/openapi/v3')
      send(response, 200, { paths: { [`apis/${this.group}/v1`]: { serverRelativeURL: `${openApiV3Path(this.group)}?hash=AB` } } })
    else if (pathname === openApiV3Path(this.group)) sendTagged(request, response, this.openApiV3())
    else if (pathname.startsWith(`${root}/namespaces/`))
      this.serveGadgets({ request, response, pathname, isWatch: searchParams.has('watch') })
    else if (pathname === `${root}/gadgets`) send(response, 200, this.list())
    else send(response, 404, failure(404, 'NotFound'))
  }

  private serveGadgets({ request, response, pathname, isWatch }: GadgetRequest): void {
    const [, , , , , , resource, name = ''] = pathname.split('/')
    if (resource !== 'gadgets') send(response, 404, failure(404, 'NotFound'))
    else if (request.method === 'POST') {
      void readJson(request).then((object) => this.put(object as Gadget, 'ADDED', (stored) => send(response, 201, stored)))
    } else if (request.method === 'DELETE' && name === '') {
      for (const each of [...this.gadgets.keys()]) this.remove(each)
      send(response, 200, { kind: 'Status', apiVersion: 'v1', status: 'Success' })
    } else if (request.method === 'DELETE') {
      this.remove(name)
      send(response, 200, { kind: 'Status', apiVersion: 'v1', status: 'Success' })
    } else if (isWatch) this.watch(response)
    else if (name === '') send(response, 200, this.list())
    else if (this.gadgets.has(name)) send(response, 200, this.gadgets.get(name))
    else send(response, 404, failure(404, 'NotFound'))
  }

  private put(object: Gadget, type: string, done: (stored: Gadget) => void): void {
    this.revision += 1
    const metadata = { namespace: 'default', uid: `uid-${this.revision}`, resourceVersion: String(this.revision), ...object.metadata }
    const stored = { ...object, apiVersion: `${this.group}/v1`, kind: 'Gadget', metadata }
    this.gadgets.set(stored.metadata.name, stored)
    done(stored)
    this.notifyWatchers(type, stored)
  }

  private remove(name: string): void {
    const deleted = this.gadgets.get(name)
    this.gadgets.delete(name)
    if (deleted !== undefined) this.notifyWatchers('DELETED', deleted)
  }

  private watch(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' })
    for (const object of this.gadgets.values()) response.write(`${JSON.stringify({ type: 'ADDED', object })}\n`)
    response.flushHeaders()
    this.watchers.add(response)
    response.once('close', () => this.watchers.delete(response))
  }

  get watching(): number {
    return this.watchers.size
  }

  private notifyWatchers(type: string, object: Gadget): void {
    for (const watcher of this.watchers) watcher.write(`${JSON.stringify({ type, object })}\n`)
  }

  private list(): object {
    const metadata = { resourceVersion: String(this.revision) }
    return { apiVersion: `${this.group}/v1`, kind: 'GadgetList', metadata, items: [...this.gadgets.values()] }
  }

  private resources(): object {
    const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
    const gadgets = {
      name: 'gadgets',
      singularName: 'gadget',
      namespaced: true,
      kind: 'Gadget',
      verbs,
      shortNames: ['gd'],
      categories: ['all'],
    }
    const status = { name: 'gadgets/status', singularName: '', namespaced: true, kind: 'Gadget', verbs: ['get', 'patch', 'update'] }
    return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${this.group}/v1`, resources: [gadgets, status] }
  }

  private get typeName(): string {
    return `com.example.${this.group.split('.')[0]}.v1.Gadget`
  }

  private get gadgetSchema(): object {
    return {
      description: 'A gadget of an extension API server.',
      type: 'object',
      properties: {
        apiVersion: { type: 'string', description: 'API version.' },
        kind: { type: 'string', description: 'Kind.' },
        metadata: { type: 'object', description: 'Metadata.' },
        spec: {
          type: 'object',
          description: 'Desired state.',
          properties: { size: { type: 'integer', description: 'Size.' } },
        },
      },
      'x-kubernetes-group-version-kind': [{ group: this.group, version: 'v1', kind: 'Gadget' }],
    }
  }

  openApiV2(): object {
    const schema = { $ref: `#/definitions/${this.typeName}` }
    const extensions = {
      'x-kubernetes-action': 'get',
      'x-kubernetes-group-version-kind': { group: this.group, version: 'v1', kind: 'Gadget' },
    }
    const get = {
      operationId: `read${this.group}Gadget`,
      produces: ['application/json'],
      responses: { 200: { description: 'OK', schema } },
      ...extensions,
    }
    return {
      swagger: '2.0',
      info: { title: 'Gadgets', version: 'v1' },
      paths: {
        [`/apis/${this.group}/v1/namespaces/{namespace}/gadgets/{name}`]: { get },
        '/apis/another.group.example/v1/things': { get },
        '/version/': { get },
      },
      definitions: { [this.typeName]: this.gadgetSchema, 'com.example.Unused': { type: 'object' } },
    }
  }

  openApiV3(): object {
    const schema = { $ref: `#/components/schemas/${this.typeName}` }
    const get = { operationId: 'readGadget', responses: { 200: { description: 'OK', content: { 'application/json': { schema } } } } }
    return {
      openapi: '3.0.0',
      info: { title: 'Gadgets', version: 'v1' },
      paths: { [`/apis/${this.group}/v1/namespaces/{namespace}/gadgets/{name}`]: { get } },
      components: { schemas: { [this.typeName]: this.gadgetSchema } },
    }
  }
}

interface GadgetRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly pathname: string
  readonly isWatch: boolean
}

const openApiV3Path = (group: string): string => `/openapi/v3/apis/${group}/v1`

const failure = (code: number, reason: string): object => ({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code })

function send(response: ServerResponse, code: number, document: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(document))
}

/** With an ETag, so that unchanged documents are not sent again. */
function sendTagged(request: IncomingMessage, response: ServerResponse, document: unknown): void {
  const body = JSON.stringify(document)
  const etag = `"${body.length}"`
  if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end()
  else response.writeHead(200, { 'content-type': 'application/json', etag }).end(body)
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString())
}

export const serviceName = 'gadgets'

export const apiServices = (suffix = 'cluster.io'): string => `/apis/apiregistration.${suffix}/v1/apiservices`

interface RegisterOptions {
  readonly server: ExtensionServer
  /** Overrides fields of the APIService spec. */
  readonly changes?: object
  readonly suffix?: string
  /** Awaited reason of the condition Available; default: `Passed`. */
  readonly expected?: string
}

/** Creates a Service with the address of the extension server, and its APIService; returns the path of the APIService. */
export async function register(client: ApiClient, { server, changes = {}, suffix, expected = 'Passed' }: RegisterOptions): Promise<string> {
  const service = { metadata: { name: serviceName }, spec: { type: 'ExternalName', externalName: 'localhost' } }
  await client.post('/api/v1/namespaces/default/services', service)
  const name = `v1.${server.group}`
  const spec = {
    group: server.group,
    version: 'v1',
    groupPriorityMinimum: 2000,
    versionPriority: 10,
    service: { namespace: 'default', name: serviceName, port: server.port },
    caBundle: Buffer.from(server.ca).toString('base64'),
    ...changes,
  }
  expectStatus(await client.post(apiServices(suffix), { metadata: { name }, spec }), 201)
  await waitFor(client, `${apiServices(suffix)}/${name}`, expected)
  return `${apiServices(suffix)}/${name}`
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

export async function conditionOf(client: ApiClient, path: string): Promise<Condition | undefined> {
  const { status } = (await client.get(path)).json as unknown as { status?: { conditions?: readonly Condition[] } }
  return status?.conditions?.find(({ type }) => type === 'Available')
}

/** Waits until the condition Available of the APIService has this reason. */
export const waitFor = (client: ApiClient, path: string, reason: string): Promise<Condition | undefined> =>
  until(
    () => conditionOf(client, path),
    (condition) => condition?.reason === reason,
    60_000,
  )
