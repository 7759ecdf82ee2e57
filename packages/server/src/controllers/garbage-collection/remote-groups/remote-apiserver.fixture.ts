// A fake extension API server with one kind, for tests of the garbage collector; its responses can be replaced.

import { ApiServiceSource, ApiServices, type ListedVersion } from '@cluster-apiserver/api/api/catalog/api-services.js'
import { RemoteDiscovery } from '@cluster-apiserver/api/api/catalog/remote-discovery.js'
import { LineStreamRefusedError } from '../../../net/outbound/http-client.js'
import type { ExtensionClient, ExtensionRequest } from '../../aggregation/extension-client.js'
import type { Extensions } from './remote-objects.js'

export const group = 'gadgets.example'
const root = `/apis/${group}/v1`

interface Gadget {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string; readonly [field: string]: unknown }
}

interface WriteRequest {
  readonly method: string
  readonly path: string
  readonly body: { readonly [field: string]: unknown }
}

export class FakeExtensionServer implements Extensions {
  readonly services = new ApiServiceSource()
  readonly gadgets = new Map<string, Gadget>()
  readonly writes: WriteRequest[] = []
  watching = 0
  respond: (request: ExtensionRequest) => { readonly status: number; readonly text: string } | undefined = () => undefined
  #pendingLines: string[] = []
  #isBroken = false
  #wake: () => void = () => undefined
  #revision = 1
  readonly documents = {
    discovery: new RemoteDiscovery(
      new Map([
        [
          `v1.${group}`,
          {
            version: 'v1',
            freshness: 'Current' as const,
            resources: [
              {
                resource: 'gadgets',
                responseKind: { group, version: 'v1', kind: 'Gadget' },
                scope: 'Namespaced' as const,
                singularResource: 'gadget',
                verbs: ['get', 'list', 'watch', 'delete', 'patch'],
              },
            ],
          },
        ],
      ]),
    ),
    onChange: () => () => undefined,
  }
  readonly extensionClient: ExtensionClient = {
    request: async (_, request) => {
      const { status, text } = this.respond(request) ?? this.#serve(request)
      return { status, contentType: 'application/json', tag: '', body: Buffer.from(text) }
    },
    probe: async () => ({ url: '', status: 200 }),
    streamLines: (_, { signal }) => this.#lines(signal),
  }

  constructor() {
    this.register({})
  }

  register(changes: Partial<ListedVersion> | undefined): void {
    const service = { namespace: 'n', name: 's', port: 443 }
    const target = { service, ca: '', isInsecure: true }
    const version = { name: `v1.${group}`, group, version: 'v1', groupPriority: 1, versionPriority: 1, isAvailable: true, remote: target }
    this.services.replace(new ApiServices(new Map(changes === undefined ? [] : [[version.name, { ...version, ...changes }]])))
  }

  put(name: string, metadata: object = {}): void {
    const isNew = !this.gadgets.has(name)
    const uid = this.gadgets.get(name)?.metadata.uid ?? `gadget-${name}`
    const object = { metadata: { name, namespace: 'n', uid, resourceVersion: String(++this.#revision), ...metadata } }
    this.gadgets.set(name, object)
    this.emit({ type: isNew ? 'ADDED' : 'MODIFIED', object })
  }

  remove(name: string): void {
    const object = this.gadgets.get(name)
    this.gadgets.delete(name)
    this.emit({ type: 'DELETED', object })
  }

  emit(event: object | string): void {
    this.#pendingLines.push(typeof event === 'string' ? event : JSON.stringify(event))
    this.#wake()
  }

  breakWatch(): void {
    this.#pendingLines = []
    this.#isBroken = true
    this.#wake()
  }

  get reference(): (name: string) => { name: string; fields: { apiVersion: string; kind: string; uid: string } } {
    return (name) => ({ name, fields: { apiVersion: `${group}/v1`, kind: 'Gadget', uid: `gadget-${name}` } })
  }

  async *#lines(signal: AbortSignal): AsyncGenerator<Buffer, void, void> {
    this.watching += 1
    signal.addEventListener('abort', () => this.#wake())
    try {
      for (;;) {
        if (signal.aborted) throw signal.reason
        if (this.#isBroken) {
          this.#isBroken = false
          throw new LineStreamRefusedError(410)
        }
        const line = this.#pendingLines.shift()
        if (line !== undefined) yield Buffer.from(line)
        else await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      this.watching -= 1
    }
  }

  #serve({ method = 'GET', path, body = '{}' }: ExtensionRequest): { readonly status: number; readonly text: string } {
    const name = path.startsWith(`${root}/namespaces/n/gadgets/`) ? path.slice(`${root}/namespaces/n/gadgets/`.length) : ''
    if (name === '') {
      const metadata = { resourceVersion: String(this.#revision) }
      return { status: 200, text: JSON.stringify({ metadata, items: [...this.gadgets.values()] }) }
    }
    const found = this.gadgets.get(name)
    if (method !== 'GET') this.writes.push({ method, path, body: JSON.parse(body) })
    if (found === undefined) return { status: 404, text: '{"kind":"Status","reason":"NotFound"}' }
    if (method === 'DELETE') this.remove(name)
    if (method === 'PATCH') this.put(name, { ...found.metadata, ...JSON.parse(body).metadata, resourceVersion: String(this.#revision + 1) })
    return { status: 200, text: JSON.stringify(this.gadgets.get(name) ?? {}) }
  }
}
