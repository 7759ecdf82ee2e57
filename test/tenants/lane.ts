// A lane: a client that writes and reads objects of its own, one request after the other, and knows what each of them must be.

import type { Called, TenantClient } from './client.js'
import { collectionOf, type Kind, kinds, objectOf, type Version } from './kinds.js'
import { type Key, LaneModel } from './model.js'
import { type RequestIds, type Size, sizes } from './payload.js'
import { type Encoding, json } from './representations.js'

const mostKeysPerKind = 5

export interface LaneParts {
  readonly client: TenantClient
  readonly ids: RequestIds
  readonly name: string
}

export class Lane {
  readonly client: TenantClient
  readonly ids: RequestIds
  readonly model: LaneModel
  /** Keys without a known state that were deleted. */
  readonly #deleted = new Set<Key>()

  constructor({ client, ids, name }: LaneParts) {
    this.client = client
    this.ids = ids
    this.model = new LaneModel(name)
  }

  get random() {
    return this.client.random
  }

  get tenant() {
    return this.client.tenant
  }

  pickKind(): Kind {
    return this.random.pick(kinds)
  }

  /** An existing key, or undefined where there is none. */
  pickKey(kind: Kind): Key | undefined {
    const present = this.model.present(kind)
    return present.length === 0 ? undefined : this.random.pick(present)
  }

  isFull(kind: Kind): boolean {
    return this.model.present(kind).length >= mostKeysPerKind
  }

  pickSize(kind: Kind): number {
    const chance = this.random.next()
    const size: Size = chance < 0.5 ? 'small' : chance < 0.75 ? 'medium' : chance < 0.93 ? 'large' : 'very large'
    const [least, most] = sizes[size]
    return Math.min(least + this.random.below(most - least), kind.mostPayloadBytes)
  }

  /** A version with a payload of its own. */
  newVersion(kind: Kind): Version {
    const id = this.ids.next()
    return { id, payloadId: id, payloadBytes: this.pickSize(kind) }
  }

  object(key: Key, version: Version, apiVersion: string) {
    return objectOf(key.kind, this.tenant, { name: key.name, lane: this.model.lane, version, apiVersion })
  }

  pickApiVersion(kind: Kind): string {
    return this.random.pick(kind.apiVersions)
  }

  collection(kind: Kind, apiVersion = this.pickApiVersion(kind)): string {
    return collectionOf(kind, apiVersion, this.tenant.namespace)
  }

  pathOf({ kind, name }: Key, apiVersion?: string): string {
    return `${this.collection(kind, apiVersion)}/${name}`
  }

  /** Sometimes the request is a dry run, or one that may take a second at most. */
  pickQuery(): { readonly query: string; readonly isDry: boolean; readonly isShort: boolean } {
    const manager = `fieldManager=${this.tenant.mark}`
    const chance = this.random.next()
    if (chance < 0.15) return { query: `${manager}&dryRun=All`, isDry: true, isShort: false }
    return chance < 0.25
      ? { query: `${manager}&timeout=1s`, isDry: false, isShort: true }
      : { query: manager, isDry: false, isShort: false }
  }

  pickEncoding({ hasProtobuf }: Kind): Encoding {
    return this.random.pick(hasProtobuf ? (['JSON', 'JSON', 'YAML', 'Protobuf'] as const) : (['JSON', 'JSON', 'YAML'] as const))
  }

  /** Notes the outcome of a write that makes `next` of the key. */
  settle(key: Key, next: Version | undefined, { isKnown, isOk }: Called): void {
    if (isOk) key.possible = [next]
    else if (!isKnown) this.model.doubt(key, next)
  }

  /** Deletes objects whose state is not known, so that they do not pile up; they may come back if the server is still at it. */
  async deleteDoubtful(kind: Kind): Promise<void> {
    for (const key of this.model.doubtful(kind)) {
      if (this.#deleted.has(key)) continue
      this.#deleted.add(key)
      this.model.doubt(key, undefined)
      await this.client.call({
        verb: 'delete',
        method: 'DELETE',
        path: this.pathOf(key),
        as: json,
        expect: [200, 404],
        isPatient: true,
      })
    }
  }
}
