// ClusterRole aggregation: writes the rules of selected roles into roles with an aggregationRule, ordered by selector and name, each once.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import {
  type CompiledLabelSelector,
  fromSelectorObject,
  type LabelSelectorObject,
  requirementsIn,
} from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import type { ClusterRole } from '@cluster-apiserver/api/resources/rbac-authorization/v1.schema.js'
import { bytesOf } from '../objects/entry/entry-header.js'
import type { StoredObject } from '../objects/entry/stored-object.js'
import { partsOf } from '../objects/object-keys.js'
import { uidOf } from '../objects/owner-index.js'
import { type ControllerParts, KeyedController, type Run } from './framework/controller.js'
import { ignoreErrors, internalApply, notFoundOrConflict } from './framework/internal-call.js'
import { pagesOf } from './framework/list-pages.js'
import type { Controller } from './leader-election/leader-election.js'

const fieldManager = 'clusterrole-aggregation-controller'

/** The only key: a change of any role may affect every aggregated role. */
const allRoles = '*'
/** Limit of the aggregated rules: the maximum size of an object. */
const maxRulesChars = 3 << 20
/** Larger selectors take too long to compile. */
const maxRequirements = 5000

export const clusterRoleAggregation = (parts: ControllerParts): Controller =>
  new KeyedController(parts, {
    name: 'clusterrole_aggregator',
    sources: () => {
      const resource = rolesOf(parts)
      if (resource === undefined) return []
      return [{ resource, namespace: '', matches: (role) => role.labels() !== undefined || mayAggregate(role), keyOf: () => allRoles }]
    },
    work: async (_, run) => {
      const resource = rolesOf(parts)
      if (resource !== undefined) await aggregateAll({ ...parts, ...run, resource })
      return undefined
    },
  })

const rolesOf = ({ engine, catalogs }: ControllerParts): Resource | undefined =>
  catalogs.current.find(engine.identity.group({ stem: 'rbac.authorization' }), 'v1', 'clusterroles')

/** Searches the encoded object: also true if a label or annotation has this name. */
const mayAggregate = ({ entry }: StoredObject): boolean => entry.value.includes('"aggregationRule":')

interface Context extends ControllerParts, Run {
  readonly resource: Resource
}

async function aggregateAll(context: Context): Promise<void> {
  const failures: unknown[] = []
  for (const name of await findAggregatedRoles(context)) {
    if (context.signal.aborted) return
    await aggregate(context, name).catch((thrown: unknown) => failures.push(thrown))
  }
  if (failures.length > 0) throw failures[0]
}

async function findAggregatedRoles({ engine, resource, budget }: Context): Promise<readonly string[]> {
  const names: string[] = []
  for await (const page of pagesOf(engine.store, { resource, namespace: '' }, budget)) {
    for (const role of page) {
      await budget.yieldIfSpent()
      if (mayAggregate(role)) names.push(partsOf(resource, role.key).name)
    }
  }
  return names
}

async function aggregate(context: Context, name: string): Promise<void> {
  const role = read(context, name)
  if (role === undefined) return
  const { aggregationRule, rules: before = [] } = role.decode(context.resource) as ClusterRole
  if (aggregationRule === undefined || aggregationRule === null) return
  const selected = await select(context, selectorsOf(aggregationRule, name), name)
  const rules = await distinctRules(context, selected)
  const isSame = sameValue(
    [...rules],
    before.map((rule) => JSON.stringify(rule)),
  )
  if (!isSame && !context.signal.aborted) await write(context, role, rules)
}

const read = ({ engine, resource }: Context, name: string): StoredObject | undefined => engine.store.read({ resource, namespace: '', name })

function selectorsOf(
  { clusterRoleSelectors = [] }: NonNullable<ClusterRole['aggregationRule']>,
  name: string,
): readonly CompiledLabelSelector[] {
  return (clusterRoleSelectors as readonly LabelSelectorObject[]).map((selector) => {
    if (requirementsIn(selector) > maxRequirements)
      throw new Error(`a selector of the aggregation rule of ${JSON.stringify(name)} has more than ${maxRequirements} labels and values`)
    return fromSelectorObject(selector)
  })
}

/** Names of roles, ordered by the first selector that matches. */
async function select(
  { engine, resource, budget, signal }: Context,
  selectors: readonly CompiledLabelSelector[],
  ownName: string,
): Promise<readonly string[]> {
  const bySelector: string[][] = selectors.map(() => [])
  for await (const page of pagesOf(engine.store, { resource, namespace: '' }, budget)) {
    for (const role of page) {
      await budget.yieldIfSpent()
      if (signal.aborted) return []
      const labels = role.labels()
      const { name } = partsOf(resource, role.key)
      for (const [i, selector] of selectors.entries()) {
        if (!selector.matches(labels)) continue
        if (name !== ownName) bySelector[i]?.push(name)
        break
      }
    }
  }
  return bySelector.flat()
}

async function distinctRules(context: Context, names: readonly string[]): Promise<ReadonlySet<string>> {
  const distinct = new Set<string>()
  let chars = 0
  for (const name of names) {
    await context.budget.yieldIfSpent()
    const { rules = [] } = (read(context, name)?.decode(context.resource) ?? {}) as ClusterRole
    for (const rule of rules) {
      const text = JSON.stringify(rule)
      if (!distinct.has(text)) chars += text.length
      distinct.add(text)
      if (chars > maxRulesChars)
        throw new Error('the aggregated rules of the cluster role exceed the maximum object size; narrow its aggregationRule')
    }
  }
  return distinct
}

async function write({ engine, resource, signal }: Context, role: StoredObject, rules: ReadonlySet<string>): Promise<void> {
  const { name } = partsOf(resource, role.key)
  // The preconditions fail if the role was deleted or changed meanwhile.
  const metadata = { name, uid: uidOf(bytesOf(role.entry)), resourceVersion: role.resourceVersion }
  const head = JSON.stringify({ apiVersion: resource.apiVersion, kind: resource.kind, metadata })
  // Without a match the field is left out: the controller releases it, and rules of other managers stay.
  const configuration = rules.size === 0 ? head : `${head.slice(0, -1)},"rules":[${[...rules].join(',')}]}`
  await ignoreErrors(
    notFoundOrConflict,
    internalApply(engine, { resource, name, options: { fieldManager, force: true }, signal }, configuration),
  )
}
