// The kinds that the thread for heavy requests knows: those of the start, and custom ones as their definitions are stored when it is asked.

import type { Catalog } from '../../api/catalog.js'
import type { CatalogSource } from '../../api/catalog-source.js'
import { CustomKinds, definitionsResource, type ReadDefinition, readDefinition } from '../../controllers/custom-resources/custom-kinds.js'
import { serviceLocator } from '../../controllers/custom-resources/locate-service.js'
import type { HookWays } from '../../net/hook-ways.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { everything } from '../../objects/selection.js'

export class ThreadCatalog {
  readonly #catalogs: CatalogSource
  readonly #kinds: CustomKinds
  /** The revision of each definition that was read, by key. */
  readonly #read = new Map<string, number>()
  /** The number that the event loop had for its kinds when they were last read. */
  #number: number | undefined

  /** `openStore`: for what is asked long after a task began, when its own store may be closed. */
  constructor(catalogs: CatalogSource, openStore: () => ObjectStore, hooks: HookWays = {}) {
    this.#catalogs = catalogs
    this.#kinds = new CustomKinds(catalogs, {
      ...hooks,
      reviewGroup: definitionsResource(catalogs)?.group ?? '',
      locate: (service) => {
        const store = openStore()
        try {
          return serviceLocator(store, catalogs)(service)
        } finally {
          store.close()
        }
      },
    })
  }

  /** What is served by now; read anew only where the event loop has another number for it. */
  at(number: number, store: ObjectStore): Catalog {
    if (this.#number !== number) this.#readAll(store)
    this.#number = number
    return this.#catalogs.current
  }

  #readAll(store: ObjectStore): void {
    const definitions = definitionsResource(this.#catalogs)
    if (definitions === undefined) return
    const gone = new Set(this.#read.keys())
    const changed: (readonly [string, ReadDefinition])[] = []
    for (const object of store.look({ resource: definitions, namespace: '', selection: everything })) {
      if (object === undefined) continue
      gone.delete(object.key)
      if (this.#read.get(object.key) === object.revision) continue
      this.#read.set(object.key, object.revision)
      changed.push([object.key, readDefinition(store, object, definitions)])
    }
    for (const key of gone) {
      this.#read.delete(key)
      this.#kinds.follow(key, undefined)
    }
    if (this.#number === undefined) this.#kinds.begin(changed)
    else for (const [key, definition] of changed) this.#kinds.follow(key, definition)
  }
}
