// Invariants of apply and update on random schemas, objects and writes.
// `SEED=… APPLY_SCENARIOS=1 node scripts/test.mjs apply-property` repeats one scenario.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type * as s from '../../schema/node.js'
import { structTopology } from '../../schema/topology.js'
import { type FieldSet, isMember, isSameSet, pathSet, union } from '../field-set/field-set.js'
import { compareElements } from '../field-set/path-element.js'
import { toFieldSet } from '../field-set/to-field-set.js'
import { isEqual } from '../json-value.js'
import { readStoredEntries } from '../managed-fields/managed-fields-entries.js'
import { PatchError } from '../patch-error.js'
import { deepFreeze, type ObjectHarness, objectHarness } from '../testing/object-harness.fixture.js'
import { type Plain, pick, type Random, randomOf, randomSchema, randomValue, withOtherValues } from '../testing/random.fixture.js'
import { mergeConfig } from './merge-config.js'
import { prune, pruneAcrossVersions } from './prune.js'

/** Path in an object with its value. Map members and list items (`isItem`) are removed unless they are owned. */
interface ObjectPath {
  readonly path: readonly string[]
  readonly value: unknown
  readonly isAtomic: boolean
  readonly isItem: boolean
}

/** All paths in a value, computed without the code under test. */
function pathsOfValue(
  node: s.SchemaNode,
  value: unknown,
  position: { readonly path: readonly string[]; readonly isItem: boolean },
): readonly ObjectPath[] {
  const inner = (element: string, child: s.SchemaNode, member: unknown, isItem: boolean) =>
    pathsOfValue(child, member, { path: [...position.path, element], isItem })
  const self = (isAtomic: boolean): readonly ObjectPath[] => (position.path.length === 0 ? [] : [{ ...position, value, isAtomic }])
  if (node.type === 'struct' && node.mapType !== 'atomic')
    return [
      ...self(false),
      ...Object.entries(value as Plain).flatMap(([name, member]) => inner(`f:${name}`, (node.fields[name] as s.Field).node, member, false)),
    ]
  if (node.type === 'map' && node.mapType !== 'atomic')
    return [...self(false), ...Object.entries(value as Plain).flatMap(([name, member]) => inner(`f:${name}`, node.value, member, true))]
  if (node.type === 'any' && typeof value === 'object' && value !== null)
    return [...self(false), ...Object.entries(value as Plain).flatMap(([name, member]) => inner(`f:${name}`, node, member, true))]
  if (node.type === 'list' && node.listType === 'set')
    return [...self(false), ...(value as readonly string[]).flatMap((item) => inner(`v:${JSON.stringify(item)}`, node.item, item, true))]
  if (node.type === 'list' && node.listType === 'map')
    return [
      ...self(false),
      ...(value as readonly Plain[]).flatMap((item) => inner(`k:{"id":${JSON.stringify(item['id'])}}`, node.item, item, true)),
    ]
  return self(true)
}

const pathsOfObject = (schema: s.StructNode, object: Plain): readonly ObjectPath[] =>
  pathsOfValue(schema, object, { path: [], isItem: false })
const textOf = (path: readonly string[]): string => path.join('\n')

/** Paths of a field set as texts. */
function pathsIn(set: FieldSet | undefined, path: readonly string[] = []): readonly string[] {
  if (set === undefined) return []
  const nestedPaths = Object.entries(set).flatMap(([element, node]) => (element === '.' ? [] : pathsIn(node, [...path, element])))
  return path.length > 0 && isMember(set) ? [textOf(path), ...nestedPaths] : nestedPaths
}

interface Scenario {
  readonly random: Random
  readonly schema: s.StructNode
  readonly harness: ObjectHarness
  /** Paths that each manager has ever set. */
  readonly everSet: Map<string, Set<string>>
  readonly log: string[]
}

function recordSet(scenario: Scenario, manager: string, paths: Iterable<string>): void {
  const everSet = scenario.everSet.get(manager) ?? new Set()
  for (const path of paths) everSet.add(path)
  scenario.everSet.set(manager, everSet)
}

const managers = ['m1', 'm2', 'm3']

function randomApply(scenario: Scenario): void {
  const { random, harness, schema } = scenario
  const manager = pick(random, managers)
  const config = deepFreeze(randomValue(random, schema) as Plain)
  const force = random() < 0.6
  scenario.log.push(`apply ${manager} ${force ? 'forced ' : ''}${JSON.stringify(config)}`)
  checkPruning(scenario, manager, config)
  const before = harness.version()
  try {
    harness.apply(manager, config, { force })
  } catch (thrown) {
    if (!(thrown instanceof PatchError) || thrown.kind !== 'conflict') throw thrown
    assert.ok(!force && thrown.causes.length > 0)
    assert.equal(harness.version(), before)
    return
  }
  recordSet(
    scenario,
    `${manager} Apply`,
    pathsOfObject(schema, config).map(({ path }) => textOf(path)),
  )
  const version = harness.version()
  harness.apply(manager, config)
  assert.equal(harness.version(), version, 'a repeated apply changes nothing')
  assertApplied(scenario, config)
  // Same fields with other values. The harness compares the outcome with an apply without the shortcut for repeated applies.
  const again = deepFreeze(withOtherValues(random, config) as Plain)
  scenario.log.push(`apply ${manager} again ${JSON.stringify(again)}`)
  harness.apply(manager, again, { force: true })
  recordSet(
    scenario,
    `${manager} Apply`,
    pathsOfObject(schema, again).map(({ path }) => textOf(path)),
  )
  assertApplied(scenario, again)
}

function assertApplied({ harness, schema }: Scenario, config: Plain): void {
  const present = new Map(pathsOfObject(schema, harness.object()).map((found) => [textOf(found.path), found]))
  for (const { path, value, isAtomic } of pathsOfObject(schema, config))
    assert.ok(!isAtomic || isEqual(present.get(textOf(path))?.value, value), `applied value is present: ${path.join(' ')}`)
}

function randomUpdate(scenario: Scenario): void {
  const { random, harness, schema } = scenario
  const manager = pick(random, managers)
  const next = random() < 0.5 ? (randomValue(random, schema) as Plain) : { ...harness.object(), ...(randomValue(random, schema) as Plain) }
  scenario.log.push(`update ${manager} ${JSON.stringify(next)}`)
  const before = new Map(pathsOfObject(schema, harness.object()).map((found) => [textOf(found.path), found]))
  const changed = pathsOfObject(schema, next).filter(({ path, value, isAtomic }) => {
    const old = before.get(textOf(path))
    return old === undefined || (isAtomic && !isEqual(old.value, value)) || old.isAtomic !== isAtomic
  })
  harness.put(manager, next)
  recordSet(
    scenario,
    `${manager} Update`,
    changed.map(({ path }) => textOf(path)),
  )
}

/** Asserts that pruning with and without conversions agree. */
function checkPruning({ schema, harness }: Scenario, manager: string, config: Plain): void {
  const kind = { schema, apiVersion: 'v1' }
  const owners = readStoredEntries(harness.entries())
  const last = owners.find((owner) => owner.manager === manager && owner.operation === 'Apply')
  if (last?.set === undefined) return
  const topology = structTopology(schema)
  const next = toFieldSet(topology, config)
  const others = owners.filter((owner) => owner !== last)
  const all = [...others, { ...last, set: next, entry: undefined }]
  const merged = mergeConfig(topology, harness.object(), config)
  const oneVersion = prune({
    kind,
    topology,
    merged,
    others,
    applier: { ...last, set: next, entry: undefined },
    appliedSet: () => next,
    last,
  })
  const acrossVersions = pruneAcrossVersions(kind, { merged, owners: all, last: { ...last, set: last.set } })
  assert.deepEqual(withoutNulls(oneVersion), withoutNulls(acrossVersions))
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).flatMap(([name, member]) => (member === null ? [] : [[name, withoutNulls(member)]])))
}

function checkOwnership({ schema, harness, everSet }: Scenario): void {
  const present = pathsOfObject(schema, harness.object())
  const presentByText = new Map(present.map((found) => [textOf(found.path), found]))
  const owned = new Set<string>()
  for (const { manager, operation, set } of readStoredEntries(harness.entries()))
    for (const path of pathsIn(set)) {
      owned.add(path)
      const isThere = presentByText.has(path)
      assert.ok(isThere || isContainer(schema, path), `field owned by ${manager} ${operation} is present: ${path}`)
      assert.ok(
        presentByText.get(path)?.isAtomic !== true || everSet.get(`${manager} ${operation}`)?.has(path),
        `${manager} ${operation} has set the field that it owns: ${path}`,
      )
    }
  for (const { path, isAtomic } of present) assert.ok(!isAtomic || owned.has(textOf(path)), `present field has an owner: ${path.join(' ')}`)
}

/** True for maps, lists and structs, which may be owned although they are empty or absent. */
function isContainer(schema: s.StructNode, path: string): boolean {
  let node: s.SchemaNode = schema
  for (const element of path.split('\n')) {
    if (node.type === 'struct') node = (node.fields[element.slice(2)] as s.Field).node
    else if (node.type === 'map') node = node.value
    else if (node.type === 'list') node = node.item
  }
  return node.type === 'struct' || node.type === 'map' || node.type === 'list' || node.type === 'any'
}

/** Asserts that an empty configuration removes exactly the fields that only this applier owned. */
function checkRemoval({ schema, harness }: Scenario, manager: string): void {
  const owners = readStoredEntries(harness.entries())
  const others = owners.filter((owner) => owner.manager !== manager || owner.operation !== 'Apply')
  const appliedPaths = new Set(pathsIn(owners.find((owner) => !others.includes(owner))?.set))
  const kept = new Set(pathsIn(others.reduce<FieldSet | undefined>((all, { set }) => union(all, set), undefined)))
  const before = pathsOfObject(schema, withoutNulls(harness.object()) as Plain)
  const items = new Map(before.map((found) => [textOf(found.path), found.isItem]))
  const isRemoved = (path: readonly string[]): boolean =>
    // A path is removed with the item that contains it, if only the applier owned the item.
    path.some((_, i) => {
      const part = textOf(path.slice(0, i + 1))
      return appliedPaths.has(part) && !kept.has(part) && (i === path.length - 1 || items.get(part) === true)
    })
  const { apiVersion: _a, kind: _k, metadata: _m, ...outcome } = harness.preview(manager, {}).object as Plain
  const after = new Set(pathsOfObject(schema, withoutNulls(outcome) as Plain).map(({ path }) => textOf(path)))
  for (const { path, isAtomic } of before)
    if (isAtomic) assert.equal(after.has(textOf(path)), !isRemoved(path), `${manager} abandons ${path.join(' ')}`)
}

function runScenario(seed: number, steps: number): void {
  const random = randomOf(seed)
  const schema = randomSchema(random)
  const scenario: Scenario = { random, schema, harness: objectHarness(schema), everSet: new Map(), log: [] }
  try {
    for (let step = 0; step < steps; step++) {
      if (random() < 0.65) randomApply(scenario)
      else randomUpdate(scenario)
      checkOwnership(scenario)
      for (const manager of managers) checkRemoval(scenario, manager)
    }
  } catch (thrown) {
    throw new Error(`seed ${seed}: ${String(thrown)}\n${scenario.log.join('\n')}`, { cause: thrown })
  }
}

test('invariants hold for random schemas, objects and writes of several managers', (t) => {
  const { SEED: seed = '1', APPLY_SCENARIOS: count = '40' } = process.env
  t.diagnostic(`SEED=${seed}`)
  for (let i = 0; i < Number(count); i++) runScenario(Number(seed) + i, 12)
})

test('unions of random field sets agree with unions of sets of paths', () => {
  const random = randomOf(7)
  const elements = ['f:a', 'f:b', 'k:{"p":80}', 'k:{"p":443}', 'v:"x"', 'v:2', 'v:10']
  const randomSet = (): FieldSet | undefined => {
    let set: FieldSet | undefined
    for (let i = 0; i < random() * 6; i++)
      set = union(set, pathSet(Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(random, elements))))
    return set
  }
  for (let i = 0; i < 500; i++) {
    const [a, b] = [randomSet(), randomSet()]
    const all = union(a, b)
    assert.deepEqual(new Set(pathsIn(all)), new Set([...pathsIn(a), ...pathsIn(b)]))
    assert.ok(isSameSet(all, union(b, a)))
    assertCanonical(all)
  }
})

function assertCanonical(set: FieldSet | undefined): void {
  const elements = Object.keys(set ?? {})
  assert.deepEqual(elements, [...elements].sort(compareElements))
  for (const node of Object.values(set ?? {})) assertCanonical(node)
}
