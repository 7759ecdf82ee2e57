// Another server with one kind in memory, as far as the collector speaks with it; and ways to misbehave.

import { ApiServiceSource, ApiServices, type ListedVersion } from '../../../api/api-services.js'
import { RemoteDiscovery } from '../../../api/discovered.js'
import { NoLinesError } from '../../../net/get-lines.js'
import type { ExtensionAsker, Question } from '../../aggregation/ask-extension.js'
import type { Extensions } from './remote-objects.js'

export const group = 'gadgets.example'
const root = `/apis/${group}/v1`

interface Gadget {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string; readonly [field: string]: unknown }
}

export interface Written {
  readonly method: string
  readonly path: string
  readonly body: { readonly [field: string]: unknown }
}

export class FakeExtension implements Extensions {
  readonly services = new ApiServiceSource()
  readonly gadgets = new Map<string, Gadget>()
  readonly written: Written[] = []
  /** How many watches run. */
  watching = 0
  /** Asked first: what is answered instead. */
  answer: (question: Question) => { readonly status: number; readonly text: string } | undefined = () => undefined
  /** Changes that watches have not told of. */
  #untold: string[] = []
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
  readonly asker: ExtensionAsker = {
    ask: async (_, question) => {
      const { status, text } = this.answer(question) ?? this.#serve(question)
      return { status, contentType: 'application/json', tag: '', body: Buffer.from(text) }
    },
    probe: async () => ({ url: '', status: 200 }),
    follow: (_, { signal }) => this.#lines(signal),
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
    this.tell({ type: isNew ? 'ADDED' : 'MODIFIED', object })
  }

  remove(name: string): void {
    const object = this.gadgets.get(name)
    this.gadgets.delete(name)
    this.tell({ type: 'DELETED', object })
  }

  /** Whatever it is. */
  tell(event: object | string): void {
    this.#untold.push(typeof event === 'string' ? event : JSON.stringify(event))
    this.#wake()
  }

  /** Watches lose sight of all that was not told. */
  lose(): void {
    this.#untold = []
    this.#isBroken = true
    this.#wake()
  }

  get reference(): (name: string) => { of: string; as: { apiVersion: string; kind: string; uid: string } } {
    return (name) => ({ of: name, as: { apiVersion: `${group}/v1`, kind: 'Gadget', uid: `gadget-${name}` } })
  }

  async *#lines(signal: AbortSignal): AsyncGenerator<Buffer, void, void> {
    this.watching += 1
    signal.addEventListener('abort', () => this.#wake())
    try {
      for (;;) {
        if (signal.aborted) throw signal.reason
        if (this.#isBroken) {
          this.#isBroken = false
          throw new NoLinesError(410)
        }
        const line = this.#untold.shift()
        if (line !== undefined) yield Buffer.from(line)
        else await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      this.watching -= 1
    }
  }

  #serve({ method = 'GET', path, body = '{}' }: Question): { readonly status: number; readonly text: string } {
    const name = path.startsWith(`${root}/namespaces/n/gadgets/`) ? path.slice(`${root}/namespaces/n/gadgets/`.length) : ''
    if (name === '') {
      const metadata = { resourceVersion: String(this.#revision) }
      return { status: 200, text: JSON.stringify({ metadata, items: [...this.gadgets.values()] }) }
    }
    const found = this.gadgets.get(name)
    if (method !== 'GET') this.written.push({ method, path, body: JSON.parse(body) })
    if (found === undefined) return { status: 404, text: '{"kind":"Status","reason":"NotFound"}' }
    if (method === 'DELETE') this.remove(name)
    if (method === 'PATCH') this.put(name, { ...found.metadata, ...JSON.parse(body).metadata, resourceVersion: String(this.#revision + 1) })
    return { status: 200, text: JSON.stringify(this.gadgets.get(name) ?? {}) }
  }
}
