// Cluster roles that collect have the rules of all roles that they select, in the order of their selectors and of names, each once.

import { ApiError } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import { type CompiledLabelSelector, fromSelectorObject } from '../api/label-selector.js'
import type { ApiObject } from '../api/object.js'
import { sameValue } from '../api/validation/same-value.js'
import type { StoredObject } from '../objects/stored-object.js'
import type { ClusterRole, PolicyRule } from '../resources/rbac-authorization/v1.schema.js'
import { patch } from '../verbs/patch.js'
import { KeyedLoop, type LoopParts, type Run } from './kit/loop.js'
import { pagesOf } from './kit/pages.js'
import type { Loop } from './leader-election.js'
import { ownCall } from './own-call.js'

const fieldManager = 'clusterrole-aggregation-controller'

/** The only key: which roles collect from one that changed is found by looking at all of them. */
const allRoles = '*'

export const clusterRoleAggregation = (parts: LoopParts): Loop =>
  new KeyedLoop(parts, {
    name: 'clusterrole_aggregator',
    sources: () => {
      const resource = rolesOf(parts)
      if (resource === undefined) return []
      const collects = (object: StoredObject): boolean => ruleOf(object, resource) !== undefined
      // Roles without labels are selected by nobody.
      return [{ resource, namespace: '', matches: (role) => role.labels() !== undefined || collects(role), keyOf: () => allRoles }]
    },
    work: async (_, run) => {
      const resource = rolesOf(parts)
      if (resource === undefined) return undefined
      for (const { role, bySelector } of await findCollectors(parts, resource, run)) {
        const rules = distinct(bySelector.flatMap(({ rules: found }) => found))
        if (!run.signal.aborted && !sameValue(role.rules ?? [], rules)) await write(parts, resource, { role, rules })
      }
      return undefined
    },
  })

const rolesOf = ({ engine, catalogs }: LoopParts): Resource | undefined =>
  catalogs.current.find(engine.identity.group({ stem: 'rbac.authorization' }), 'v1', 'clusterroles')

/** How it collects. Most roles do not, and are not decoded to know that. */
const ruleOf = (stored: StoredObject, resource: Resource): ClusterRole['aggregationRule'] =>
  stored.entry.value.includes('"aggregationRule":') ? (stored.decode(resource) as ClusterRole).aggregationRule : undefined

interface Collector {
  readonly role: ClusterRole
  readonly bySelector: readonly { readonly selector: CompiledLabelSelector; readonly rules: PolicyRule[] }[]
}

/** Those that collect, with what they find; all roles are gone through twice. */
async function findCollectors(parts: LoopParts, resource: Resource, { pieces, signal }: Run): Promise<readonly Collector[]> {
  const pages = () => pagesOf(parts.engine.store, { resource, namespace: '' }, pieces)
  const collectors: Collector[] = []
  for await (const page of pages()) {
    if (signal.aborted) return []
    for (const stored of page) {
      const rule = ruleOf(stored, resource)
      if (rule === undefined) continue
      const bySelector = (rule.clusterRoleSelectors ?? []).map((selector) => ({ selector: fromSelectorObject(selector), rules: [] }))
      collectors.push({ role: stored.decode(resource) as ClusterRole, bySelector })
    }
  }
  if (collectors.length === 0) return []
  for await (const page of pages()) {
    if (signal.aborted) return []
    for (const stored of page) collect(collectors, stored, resource)
  }
  return collectors
}

function collect(collectors: readonly Collector[], stored: StoredObject, resource: Resource): void {
  const labels = stored.labels()
  for (const { role, bySelector } of collectors) {
    for (const { selector, rules } of bySelector) {
      if (!selector.matches(labels)) continue
      const found = stored.decode(resource) as ClusterRole
      if (found.metadata?.name !== role.metadata?.name) rules.push(...(found.rules ?? []))
    }
  }
}

/** Rules that are the same are written in the same way: they come from the store. */
function distinct(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const byText = new Map<string, PolicyRule>()
  for (const rule of rules) {
    const text = JSON.stringify(rule)
    if (!byText.has(text)) byText.set(text, rule)
  }
  return [...byText.values()]
}

interface Collected {
  readonly role: ClusterRole
  readonly rules: readonly PolicyRule[]
}

/** Who owns the other fields goes on to own them. */
async function write({ engine }: LoopParts, resource: Resource, { role, rules }: Collected): Promise<void> {
  const name = role.metadata?.name ?? ''
  const configuration = { apiVersion: resource.apiVersion, kind: resource.kind, metadata: { name }, rules } as ApiObject
  try {
    await patch(engine, ownCall(engine, { resource, name, options: { fieldManager, force: true } }), {
      type: 'apply',
      // One that was deleted meanwhile is not made again.
      patch: { ...configuration, metadata: { name, uid: role.metadata?.uid ?? '' } },
      duplicates: [],
    })
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || ![404, 409].includes(thrown.status.code)) throw thrown
  }
}
