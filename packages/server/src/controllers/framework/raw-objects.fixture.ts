// Objects put into a store as they are, without the rules of their kinds: for plays in which only some of their fields matter.

import type { Resource } from '../api/catalog.js'
import { type ApiObject, withMetadata } from '../api/object.js'
import type { Stage } from './engine.fixture.js'

export interface RawObject extends ApiObject {
  readonly metadata: NonNullable<ApiObject['metadata']> & { readonly name: string }
  readonly spec?: unknown
  readonly status?: unknown
}

export class RawObjects {
  readonly #stage: Stage
  readonly #resource: Resource
  readonly #namespace: string

  constructor(stage: Stage, resource: Resource, namespace = 'n') {
    this.#stage = stage
    this.#resource = resource
    this.#namespace = resource.namespaced ? namespace : ''
  }

  /** Makes one, or puts another in its place. */
  async put(object: RawObject): Promise<void> {
    const { store, clock, newUid } = this.#stage.engine
    const address = { resource: this.#resource, namespace: this.#namespace, name: object.metadata.name }
    const before = store.read(address)
    const kept = before?.decode(this.#resource).metadata
    const complete = withMetadata(object as ApiObject, {
      ...(this.#namespace === '' ? {} : { namespace: this.#namespace }),
      uid: object.metadata.uid ?? kept?.uid ?? newUid(),
      creationTimestamp: object.metadata.creationTimestamp ?? `${new Date(clock.now()).toISOString().slice(0, 19)}Z`,
    })
    const outcome = await store.put(address, store.encode(this.#resource, complete), { expect: before?.revision ?? 0 })
    if (!outcome.ok) throw new Error(`${object.metadata.name} was not written`)
  }

  async remove(name: string): Promise<void> {
    const { store } = this.#stage.engine
    const stored = store.read({ resource: this.#resource, namespace: this.#namespace, name })
    if (stored !== undefined) await store.remove(stored)
  }

  read<T extends ApiObject>(name: string): T | undefined {
    return this.#stage.engine.store.read({ resource: this.#resource, namespace: this.#namespace, name })?.decode(this.#resource) as
      | T
      | undefined
  }
}
