// Writes partial objects to the store of a test, without defaulting and validation.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { type ApiObject, withMetadata } from '@cluster-apiserver/api/api/object.js'
import type { TestEngine } from './engine.fixture.js'

export interface RawObject extends ApiObject {
  readonly metadata: NonNullable<ApiObject['metadata']> & { readonly name: string }
  readonly spec?: unknown
  readonly status?: unknown
}

export class RawObjects {
  readonly #testEngine: TestEngine
  readonly #resource: Resource
  readonly #namespace: string

  constructor(testEngine: TestEngine, resource: Resource, namespace = 'n') {
    this.#testEngine = testEngine
    this.#resource = resource
    this.#namespace = resource.namespaced ? namespace : ''
  }

  async put(object: RawObject): Promise<void> {
    const { store, clock, newUid } = this.#testEngine.engine
    const address = { resource: this.#resource, namespace: this.#namespace, name: object.metadata.name }
    const before = store.read(address)
    const previous = before?.decode(this.#resource).metadata
    const complete = withMetadata(object as ApiObject, {
      ...(this.#namespace === '' ? {} : { namespace: this.#namespace }),
      uid: object.metadata.uid ?? previous?.uid ?? newUid(),
      creationTimestamp: object.metadata.creationTimestamp ?? `${new Date(clock.now()).toISOString().slice(0, 19)}Z`,
    })
    const outcome = await store.put(address, store.encode(this.#resource, complete), { expect: before?.revision ?? 0 })
    if (!outcome.ok) throw new Error(`${object.metadata.name} was not written`)
  }

  async remove(name: string): Promise<void> {
    const { store } = this.#testEngine.engine
    const stored = store.read({ resource: this.#resource, namespace: this.#namespace, name })
    if (stored !== undefined) await store.remove(stored)
  }

  read<T extends ApiObject>(name: string): T | undefined {
    return this.#testEngine.engine.store.read({ resource: this.#resource, namespace: this.#namespace, name })?.decode(this.#resource) as
      | T
      | undefined
  }
}
