// Objects that the server makes when they are asked for by name: they are there for whoever looks for them, and cost nothing where nobody does.

import { ApiError } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import type { CompiledFieldSelector } from '../api/field-selector.js'
import { addressOf, type Engine } from './engine.js'

/** Makes the object in a namespace, if it can be there. */
export type Make = (namespace: string) => Promise<void>

export class OnDemand {
  /** By collection and name. */
  readonly #makers = new Map<string, Make>()

  /** Gives what ends it. */
  add({ collection, name }: { readonly collection: string; readonly name: string }, make: Make): () => void {
    const key = `${collection}/${name}`
    this.#makers.set(key, make)
    return () => void this.#makers.delete(key)
  }

  find(collection: string, name: string): Make | undefined {
    return this.#makers.get(`${collection}/${name}`)
  }
}

/** Makes what is asked for, where that is missing and there is somebody who makes it; undefined where nothing has to be waited for. */
export function makeMissing(engine: Engine, call: Call, name = call.name): undefined | Promise<void> {
  const { resource, namespace } = call
  const make = namespace === '' ? undefined : engine.onDemand?.find(resource.collection, name)
  if (make === undefined || engine.store.read(addressOf(call, name)) !== undefined) return undefined
  return call.waitFor(make(namespace).catch(ignoreUnwritable))
}

/** Who reads does not need a store that can write: what cannot be made now is missing. */
function ignoreUnwritable(thrown: unknown): void {
  if (!(thrown instanceof ApiError) || ![429, 503].includes(thrown.status.code)) throw thrown
}

/** The same for whoever lists or watches a single name. */
export function makeSelected(engine: Engine, call: Call, fields: CompiledFieldSelector | undefined): undefined | Promise<void> {
  const name = engine.onDemand === undefined ? undefined : fields?.exactValue('metadata.name')
  return name === undefined ? undefined : makeMissing(engine, call, name)
}
