// Watches of a tenant: no byte belongs to a mark of another tenant, and JSON events are of the tenant's namespace, with an intact payload.

import type { JsonObject, WatchEvent } from '../../kit/network/json-object.js'
import { type Kind, requestAnnotation } from '../kinds.js'
import type { Lane } from '../lane.js'
import { pickForWatch, type Representation, withQuery } from '../representations.js'
import { isIntactPayload } from './payload.js'

/** Longer than a mark in base64, so that one between two chunks is found. */
const overlapBytes = 64

export async function watch(lane: Lane): Promise<void> {
  const kind = lane.pickKind()
  const as = pickForWatch(lane.random, kind.hasProtobuf)
  const seconds = 1 + lane.random.below(5)
  const queries = ['', 'resourceVersion=0', 'allowWatchBookmarks=true']
  const path = withQuery(lane.collection(kind), `watch=1&timeoutSeconds=${seconds}`, lane.random.pick(queries))
  const frames = new Frames(lane, kind, as)
  await lane.client.call({ verb: 'watch', method: 'GET', path, as, expect: [200], onBytes: (bytes) => frames.push(bytes) })
}

class Frames {
  readonly #lane: Lane
  readonly #kind: Kind
  readonly #as: Representation
  #tail = Buffer.alloc(0)
  #line: Buffer[] = []

  constructor(lane: Lane, kind: Kind, as: Representation) {
    this.#lane = lane
    this.#kind = kind
    this.#as = as
  }

  push(chunk: Buffer): void {
    const { client, tenant } = this.#lane
    client.checks.searchBytes(tenant, `watch of ${this.#kind.resource} as ${this.#as.name}`, Buffer.concat([this.#tail, chunk]))
    this.#tail = Buffer.from(chunk.subarray(-overlapBytes))
    if (this.#as.isJson !== true) return
    let start = 0
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      this.#line.push(chunk.subarray(start, end))
      this.#checkEvent(Buffer.concat(this.#line).toString())
      this.#line = []
      start = end + 1
    }
    this.#line.push(chunk.subarray(start))
  }

  #checkEvent(line: string): void {
    if (!line.startsWith('{"type":')) return
    const { type, object } = JSON.parse(line) as WatchEvent
    const { checks } = this.#lane.client
    checks.count(`watch event ${type}`, this.#as.name)
    if (type === 'BOOKMARK') return
    if (type === 'ERROR') {
      checks.addFinding('unexplained error', `watch of ${this.#kind.resource}: ${line.slice(0, 300)}`)
      return
    }
    const problem = this.#problemOf(object)
    if (problem !== undefined) checks.addFinding('response to another request', `watch of ${this.#kind.resource}, ${type}: ${problem}`)
  }

  #problemOf(object: JsonObject): string | undefined {
    const { namespace, char, mark } = this.#lane.tenant
    const { metadata, kind } = object
    if (kind !== this.#kind.kind || metadata.namespace !== namespace) return `${kind} ${metadata.namespace}/${metadata.name}`
    const id = metadata.annotations?.[requestAnnotation]
    // Objects of controllers have no request id.
    if (id === undefined) return undefined
    if (!id.startsWith(`id-${char}-`)) return `${metadata.name} was written by ${id}`
    return isIntactPayload(mark, this.#kind.payloadOf(object)) ? undefined : `the payload of ${metadata.name} is not that of one request`
  }
}
