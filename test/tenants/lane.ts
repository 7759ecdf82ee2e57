// A lane: a client that writes and reads its own objects, one request after the other, and knows their expected content.

import type { CallResult, TenantClient } from './client.js'
import { collectionOf, type Kind, kinds, objectOf, type Version } from './kinds.js'
import { type Key, LaneModel } from './model.js'
import { type Encoding, json } from './representations.js'
import { type RequestIds, type Size, sizes } from './workload/payload.js'

const maxKeysPerKind = 5

interface LaneParts {
  readonly client: TenantClient
  readonly ids: RequestIds
  readonly name: string
}

export class Lane {
  readonly client: TenantClient
  readonly ids: RequestIds
  readonly model: LaneModel
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

  pickKey(kind: Kind): Key | undefined {
    const present = this.model.present(kind)
    return present.length === 0 ? undefined : this.random.pick(present)
  }

  isFull(kind: Kind): boolean {
    return this.model.present(kind).length >= maxKeysPerKind
  }

  pickSize(kind: Kind): number {
    const chance = this.random.next()
    const size: Size = chance < 0.5 ? 'small' : chance < 0.75 ? 'medium' : chance < 0.93 ? 'large' : 'very large'
    const [least, most] = sizes[size]
    return Math.min(least + this.random.below(most - least), kind.maxPayloadBytes)
  }

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
  pickQuery(): { readonly query: string; readonly isDry: boolean; readonly hasShortTimeout: boolean } {
    const manager = `fieldManager=${this.tenant.mark}`
    const chance = this.random.next()
    if (chance < 0.15) return { query: `${manager}&dryRun=All`, isDry: true, hasShortTimeout: false }
    return chance < 0.25
      ? { query: `${manager}&timeout=1s`, isDry: false, hasShortTimeout: true }
      : { query: manager, isDry: false, hasShortTimeout: false }
  }

  pickEncoding({ hasProtobuf }: Kind): Encoding {
    return this.random.pick(hasProtobuf ? (['JSON', 'JSON', 'YAML', 'Protobuf'] as const) : (['JSON', 'JSON', 'YAML'] as const))
  }

  settle(key: Key, next: Version | undefined, { isKnown, isOk }: CallResult): void {
    if (isOk) key.possible = [next]
    else if (!isKnown) this.model.addPossible(key, next)
  }

  /** Deletes objects with unknown state, so that they do not accumulate; a pending request may create them again. */
  async deleteUncertain(kind: Kind): Promise<void> {
    for (const key of this.model.uncertain(kind)) {
      if (this.#deleted.has(key)) continue
      this.#deleted.add(key)
      this.model.addPossible(key, undefined)
      await this.client.call({
        verb: 'delete',
        method: 'DELETE',
        path: this.pathOf(key),
        as: json,
        expect: [200, 404],
        isUndisturbed: true,
      })
    }
  }
}
