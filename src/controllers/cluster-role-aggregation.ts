// Cluster roles that collect have the rules of all roles that they select, in the order of their selectors and of names, each once.

import { ApiError } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import { type CompiledLabelSelector, fromSelectorObject, type LabelSelectorObject, requirementsIn } from '../api/label-selector.js'
import { nowOrInPieces } from '../base/pieces.js'
import { bytesOf } from '../objects/entry-header.js'
import { fieldsInSteps } from '../objects/fields-in-steps.js'
import { partsOf } from '../objects/keys.js'
import { uidOf } from '../objects/owner-fields.js'
import type { StoredObject } from '../objects/stored-object.js'
import type { ClusterRole } from '../resources/rbac-authorization/v1.schema.js'
import { KeyedLoop, type LoopParts, type Run } from './kit/loop.js'
import { pagesOf } from './kit/pages.js'
import type { Loop } from './leader-election.js'
import { applyOwn } from './own-write.js'

const fieldManager = 'clusterrole-aggregation-controller'

/** The only key: which roles collect from one that changed is found by looking at all of them. */
const allRoles = '*'
/** No object has room for more letters of rules. */
const mostLetters = 3 << 20
/** Of one selector: what has more takes too long to compile. */
const mostRequirements = 5000
const rulesPerStep = 100
const selectorsPerStep = 200

export const clusterRoleAggregation = (parts: LoopParts): Loop =>
  new KeyedLoop(parts, {
    name: 'clusterrole_aggregator',
    sources: () => {
      const resource = rolesOf(parts)
      if (resource === undefined) return []
      // Roles without labels are selected by nobody.
      return [{ resource, namespace: '', matches: (role) => role.labels() !== undefined || mayCollect(role), keyOf: () => allRoles }]
    },
    work: async (_, run) => {
      const resource = rolesOf(parts)
      if (resource !== undefined) await fillAll({ ...parts, ...run, resource })
      return undefined
    },
  })

const rolesOf = ({ engine, catalogs }: LoopParts): Resource | undefined =>
  catalogs.current.find(engine.identity.group({ stem: 'rbac.authorization' }), 'v1', 'clusterroles')

/** Whether it may collect, found without decoding it: no text can have such a word in it, because of its quotes; the name of a label can. */
const mayCollect = ({ entry }: StoredObject): boolean => entry.value.includes('"aggregationRule":')

interface Collecting extends LoopParts, Run {
  readonly resource: Resource
}

/** One that cannot be filled keeps no other from it. */
async function fillAll(collecting: Collecting): Promise<void> {
  const failures: unknown[] = []
  for (const name of await findCollectors(collecting)) {
    if (collecting.signal.aborted) return
    await fill(collecting, name).catch((thrown: unknown) => failures.push(thrown))
  }
  if (failures.length > 0) throw failures[0]
}

async function findCollectors({ engine, resource, pieces }: Collecting): Promise<readonly string[]> {
  const names: string[] = []
  for await (const page of pagesOf(engine.store, { resource, namespace: '' }, pieces)) {
    for (const role of page) {
      if (pieces.isOver) await pieces.next()
      if (mayCollect(role)) names.push(partsOf(resource, role.key).name)
    }
  }
  return names
}

async function fill(collecting: Collecting, name: string): Promise<void> {
  const { pieces, signal } = collecting
  const role = read(collecting, name)
  if (role === undefined) return
  const selectors = await nowOrInPieces(selectorsOf(collecting, role), pieces)
  if (selectors === undefined) return
  const selected = await select(collecting, selectors, name)
  const rules = await nowOrInPieces(distinctRules(collecting, selected), pieces)
  const isSame = await nowOrInPieces(hasRules(collecting, role, rules), pieces)
  if (!isSame && !signal.aborted) await write(collecting, role, rules)
}

const read = ({ engine, resource }: Collecting, name: string): StoredObject | undefined =>
  engine.store.read({ resource, namespace: '', name })

/** Undefined: it does not collect. */
function* selectorsOf(
  { resource }: Collecting,
  role: StoredObject,
): Generator<undefined, readonly CompiledLabelSelector[] | undefined, undefined> {
  const { aggregationRule } = yield* fieldsOf(resource, role)
  if (aggregationRule === undefined || aggregationRule === null) return undefined
  const written = (aggregationRule.clusterRoleSelectors ?? []) as readonly LabelSelectorObject[]
  const selectors: CompiledLabelSelector[] = []
  for (const selector of written) {
    if (requirementsIn(selector) > mostRequirements) {
      const { name } = partsOf(resource, role.key)
      throw new Error(`a selector of the aggregation rule of ${JSON.stringify(name)} has more than ${mostRequirements} labels and values`)
    }
    selectors.push(fromSelectorObject(selector))
    yield
  }
  return selectors
}

/** Names of roles, those of the first selector first; one that several select stands where the first of them does. */
async function select(
  { engine, resource, pieces, signal }: Collecting,
  selectors: readonly CompiledLabelSelector[],
  own: string,
): Promise<readonly string[]> {
  const bySelector: string[][] = selectors.map(() => [])
  for await (const page of pagesOf(engine.store, { resource, namespace: '' }, pieces)) {
    for (const role of page) {
      if (signal.aborted) return []
      const labels = role.labels()
      const { name } = partsOf(resource, role.key)
      for (const [i, selector] of selectors.entries()) {
        if (i % selectorsPerStep === 0 && pieces.isOver) await pieces.next()
        if (!selector.matches(labels)) continue
        if (name !== own) bySelector[i]?.push(name)
        break
      }
    }
  }
  return bySelector.flat()
}

/** As JSON: rules that are the same are written in the same way in the store. */
function* distinctRules(collecting: Collecting, names: readonly string[]): Generator<undefined, ReadonlySet<string>, undefined> {
  const distinct = new Set<string>()
  let letters = 0
  for (const name of names) {
    const role = read(collecting, name)
    let untilPause = rulesPerStep
    for (const rule of role === undefined ? [] : yield* rulesIn(collecting, role)) {
      const text = JSON.stringify(rule)
      if (!distinct.has(text)) letters += text.length
      distinct.add(text)
      if (letters > mostLetters) throw new Error('a cluster role would collect more rules than an object has room for')
      if (--untilPause > 0) continue
      untilPause = rulesPerStep
      yield
    }
    yield
  }
  return distinct
}

function* rulesIn({ resource }: Collecting, role: StoredObject): Generator<undefined, readonly unknown[], undefined> {
  return (yield* fieldsOf(resource, role)).rules ?? []
}

function* fieldsOf(resource: Resource, role: StoredObject): Generator<undefined, ClusterRole, undefined> {
  return ((yield* fieldsInSteps(role, resource)) ?? role.decode(resource)) as ClusterRole
}

function* hasRules(collecting: Collecting, role: StoredObject, rules: ReadonlySet<string>): Generator<undefined, boolean, undefined> {
  const before = yield* rulesIn(collecting, role)
  if (before.length !== rules.size) return false
  let place = 0
  for (const text of rules) {
    if (JSON.stringify(before[place]) !== text) return false
    if (++place % rulesPerStep === 0) yield
  }
  return true
}

/** Who owns the other fields goes on to own them. */
async function write({ engine, resource, signal }: Collecting, role: StoredObject, rules: ReadonlySet<string>): Promise<void> {
  const { name } = partsOf(resource, role.key)
  // One that was deleted meanwhile is not made again, and one that was changed, and may not collect any more, is looked at again.
  const metadata = { name, uid: uidOf(bytesOf(role.entry)), resourceVersion: role.resourceVersion }
  const head = JSON.stringify({ apiVersion: resource.apiVersion, kind: resource.kind, metadata })
  const configuration = `${head.slice(0, -1)},"rules":[${[...rules].join(',')}]}`
  try {
    await applyOwn(engine, { resource, name, options: { fieldManager, force: true }, signal }, configuration)
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || ![404, 409].includes(thrown.status.code)) throw thrown
  }
}
