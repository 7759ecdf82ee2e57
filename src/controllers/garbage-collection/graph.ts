// What all parts of the garbage collector share: the kinds that are served, and the index of owners that follows every change.

import type { Catalog, Resource } from '../../api/catalog.js'
import type { CatalogSource } from '../../api/catalog-source.js'
import type { OwnerReference } from '../../api/object.js'
import { onceFor } from '../../base/once-for.js'
import { collectionOf, type KeyParts, partsOf } from '../../objects/keys.js'
import type { OwnerIndex } from '../../objects/owner-index.js'
import type { Engine } from '../../verbs/engine.js'
import type { Run } from '../kit/loop.js'

export interface Graph {
  readonly engine: Engine
  readonly catalogs: Pick<CatalogSource, 'current'>
  readonly index: OwnerIndex
  readonly run: Run
  /** Lets others have some of the time while there is much to do. */
  readonly rest: () => Promise<void>
  /** Told of an owner that is not where a dependent says. */
  readonly onStray: (dependent: Dependent, stray: StrayReference, owners: Resource) => void
  /** Told of a kind of owners that nobody serves. */
  readonly onUnknownKind: (apiVersion: string, kind: string) => void
}

/** What an object says of an owner. */
export interface StrayReference {
  /** That of the object. */
  readonly uid: string
  readonly reference: OwnerReference
}

/** An object that has owners: where it lies. */
export interface Dependent extends KeyParts {
  readonly key: string
  readonly resource: Resource
}

/** The kinds whose objects can be owned and collected, by the collection in which they lie. */
export const collectedKinds = onceFor(
  (catalog: Catalog): ReadonlyMap<string, Resource> =>
    new Map(
      catalog
        .collections()
        .filter(
          ({ verbs, collection }) => collection !== 'events' && ['delete', 'list', 'watch'].every((verb) => verbs.includes(verb as 'list')),
        )
        .map((resource) => [resource.collection, resource]),
    ),
)

export function locate({ catalogs }: Pick<Graph, 'catalogs'>, key: string): Dependent | undefined {
  const resource = collectedKinds(catalogs.current).get(collectionOf(key))
  return resource === undefined ? undefined : { key, resource, ...partsOf(resource, key) }
}
