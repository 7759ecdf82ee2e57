// The hooks that are configured now, and which of them may be about a request. Most requests are nobody's business: that is found out once
// for a resource and an operation, and remembered until a configuration or the catalog changes.

import type { Catalog, Resource } from '../../api/catalog.js'
import type { CatalogSource } from '../../api/catalog-source.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { AdmissionRequest } from '../admission.js'
import { keptByNamespace } from '../kept-by-namespace.js'
import { matchRules } from '../matching/match.js'
import type { SeenAs } from '../matching/seen-as.js'
import { type Hook, hooksOf } from './hook.js'

/** A hook whose rules are about a request; its selectors were not asked yet. */
export interface Candidate {
  readonly hook: Hook
  readonly as: SeenAs
}

export type FindCandidates = (request: AdmissionRequest) => readonly Candidate[]

export interface HookListParts {
  readonly store: ObjectStore
  readonly configurations: Resource
  readonly catalogs: Pick<CatalogSource, 'current'>
}

const none: readonly Candidate[] = []

export function hookList({ store, configurations, catalogs }: HookListParts): FindCandidates {
  const keptIn = keptByNamespace(store, configurations)
  let source: ReturnType<typeof keptIn> | undefined
  let catalog: Catalog | undefined
  let hooks: readonly Hook[] = []
  let known = new Map<Resource, Map<string, readonly Candidate[]>>()
  return (request) => {
    const kept = keptIn('')
    if (kept.length === 0) return none
    if (kept !== source) {
      hooks = hooksOf(kept.map(({ object }) => object))
      source = kept
      known = new Map()
    }
    if (catalog !== catalogs.current) {
      catalog = catalogs.current
      known = new Map()
    }
    const places = getOrInsert(known, request.resource, () => new Map<string, readonly Candidate[]>())
    return getOrInsert(places, `${request.operation} ${request.subresource}`, () =>
      hooks.flatMap((hook) => {
        const as = matchRules(hook.criteria.rules ?? [], hook.criteria, request, { catalogs })
        return as === undefined ? [] : [{ hook, as }]
      }),
    )
  }
}
