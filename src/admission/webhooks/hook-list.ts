// The hooks that are configured now, and which of them may be about a request. Most requests are nobody's business: that is found out once
// for a resource and an operation, and remembered until a configuration or the catalog changes.

import type { Resource } from '../../api/catalog.js'
import type { CatalogSource } from '../../api/catalog-source.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { AdmissionRequest } from '../admission.js'
import { keptByNamespace } from '../kept-by-namespace.js'
import { byPlace } from '../matching/by-place.js'
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
  let hooks: readonly Hook[] = []
  const find = byPlace(catalogs, (all: readonly Hook[], request) =>
    all.flatMap((hook) => {
      const as = matchRules(hook.criteria.rules ?? [], hook.criteria, request, { catalogs })
      return as === undefined ? [] : [{ hook, as }]
    }),
  )
  return (request) => {
    const kept = keptIn('')
    if (kept.length === 0) return none
    if (kept !== source) {
      hooks = hooksOf(kept.map(({ object }) => object))
      source = kept
    }
    return find(hooks, request)
  }
}
