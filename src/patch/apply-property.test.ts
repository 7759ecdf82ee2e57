// What holds for apply and update whatever the schema, the objects and the order of writes: checked on random ones. The seed is
// printed; `SEED=… node --test …` repeats a run.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type * as s from '../schema/node.js'
import { structTopology } from '../schema/topology.js'
import { type FieldSet, isMember, isSameSet, pathSet, union } from './field-set.js'
import { readStoredEntries } from './managed-entries.js'
import { mergeConfig } from './merge.js'
import { PatchError } from './patch-error.js'
import { compareElements } from './path-element.js'
import { isEqual } from './plain.js'
import { prune } from './prune.js'
import { pruneAcrossVersions } from './prune-versions.js'
import { type Plain, pick, type Random, randomOf, randomSchema, randomValue, withOtherTexts } from './random.fixture.js'
import { setOf } from './set-of.js'
import { deepFreeze, type Stage, stageOf } from './stage.fixture.js'

/** A path of the object: what is there, whether it is one value, and whether it must be owned to stay. */
interface Place {
  readonly path: readonly string[]
  readonly value: unknown
  readonly isOne: boolean
  readonly isItem: boolean
}

/** Every path in a value, found without the code under test. */
function places(node: s.SchemaNode, value: unknown, at: { readonly path: readonly string[]; readonly isItem: boolean }): readonly Place[] {
  const inner = (element: string, child: s.SchemaNode, member: unknown, isItem: boolean) =>
    places(child, member, { path: [...at.path, element], isItem })
  const place = (isOne: boolean): readonly Place[] => (at.path.length === 0 ? [] : [{ ...at, value, isOne }])
  if (node.type === 'struct' && node.mapType !== 'atomic')
    return [
      ...place(false),
      ...Object.entries(value as Plain).flatMap(([name, member]) => inner(`f:${name}`, (node.fields[name] as s.Field).node, member, false)),
    ]
  if (node.type === 'map' && node.mapType !== 'atomic')
    return [...place(false), ...Object.entries(value as Plain).flatMap(([name, member]) => inner(`f:${name}`, node.value, member, true))]
  if (node.type === 'any' && typeof value === 'object')
    return [...place(false), ...Object.entries(value as Plain).flatMap(([name, member]) => inner(`f:${name}`, node, member, true))]
  if (node.type === 'list' && node.listType === 'set')
    return [...place(false), ...(value as readonly string[]).flatMap((item) => inner(`v:${JSON.stringify(item)}`, node.item, item, true))]
  if (node.type === 'list' && node.listType === 'map')
    return [
      ...place(false),
      ...(value as readonly Plain[]).flatMap((item) => inner(`k:{"id":${JSON.stringify(item['id'])}}`, node.item, item, true)),
    ]
  return place(true)
}

const placesOf = (schema: s.StructNode, object: Plain): readonly Place[] => places(schema, object, { path: [], isItem: false })
const textOf = (path: readonly string[]): string => path.join('\n')

/** The paths of a set as texts. */
function pathsIn(set: FieldSet | undefined, path: readonly string[] = []): readonly string[] {
  if (set === undefined) return []
  const below = Object.entries(set).flatMap(([element, node]) => (element === '.' ? [] : pathsIn(node, [...path, element])))
  return path.length > 0 && isMember(set) ? [textOf(path), ...below] : below
}

interface World {
  readonly random: Random
  readonly schema: s.StructNode
  readonly stage: Stage
  /** What each manager ever set. */
  readonly everSet: Map<string, Set<string>>
  readonly log: string[]
}

function note(world: World, manager: string, paths: Iterable<string>): void {
  const known = world.everSet.get(manager) ?? new Set()
  for (const path of paths) known.add(path)
  world.everSet.set(manager, known)
}

const managers = ['m1', 'm2', 'm3']

function randomApply(world: World): void {
  const { random, stage, schema } = world
  const manager = pick(random, managers)
  const config = deepFreeze(randomValue(random, schema) as Plain)
  const force = random() < 0.6
  world.log.push(`apply ${manager} ${force ? 'forced ' : ''}${JSON.stringify(config)}`)
  checkPruning(world, manager, config)
  const before = stage.version()
  try {
    stage.apply(manager, config, { force })
  } catch (thrown) {
    if (!(thrown instanceof PatchError) || thrown.kind !== 'conflict') throw thrown
    assert.ok(!force && thrown.causes.length > 0)
    assert.equal(stage.version(), before)
    return
  }
  note(
    world,
    `${manager} Apply`,
    placesOf(schema, config).map(({ path }) => textOf(path)),
  )
  const version = stage.version()
  stage.apply(manager, config)
  assert.equal(stage.version(), version, 'the same configuration again changes nothing')
  assertApplied(world, config)
  // The same fields with other values, as controllers do all day; the stage compares what comes of it with the longer way.
  const again = deepFreeze(withOtherTexts(random, config) as Plain)
  world.log.push(`apply ${manager} again ${JSON.stringify(again)}`)
  stage.apply(manager, again, { force: true })
  note(
    world,
    `${manager} Apply`,
    placesOf(schema, again).map(({ path }) => textOf(path)),
  )
  assertApplied(world, again)
}

function assertApplied({ stage, schema }: World, config: Plain): void {
  const present = new Map(placesOf(schema, stage.object()).map((place) => [textOf(place.path), place]))
  for (const { path, value, isOne } of placesOf(schema, config))
    assert.ok(!isOne || isEqual(present.get(textOf(path))?.value, value), `what was applied is there: ${path.join(' ')}`)
}

function randomUpdate(world: World): void {
  const { random, stage, schema } = world
  const manager = pick(random, managers)
  const next = random() < 0.5 ? (randomValue(random, schema) as Plain) : { ...stage.object(), ...(randomValue(random, schema) as Plain) }
  world.log.push(`update ${manager} ${JSON.stringify(next)}`)
  const before = new Map(placesOf(schema, stage.object()).map((place) => [textOf(place.path), place]))
  const changed = placesOf(schema, next).filter(({ path, value, isOne }) => {
    const old = before.get(textOf(path))
    return old === undefined || (isOne && !isEqual(old.value, value)) || old.isOne !== isOne
  })
  stage.put(manager, next)
  note(
    world,
    `${manager} Update`,
    changed.map(({ path }) => textOf(path)),
  )
}

/** The quick way to prune and the one that converts must agree. */
function checkPruning({ schema, stage }: World, manager: string, config: Plain): void {
  const kind = { schema, apiVersion: 'v1' }
  const owners = readStoredEntries(stage.entries())
  const last = owners.find((owner) => owner.manager === manager && owner.operation === 'Apply')
  if (last?.set === undefined) return
  const topology = structTopology(schema)
  const next = setOf(topology, config)
  const others = owners.filter((owner) => owner !== last)
  const all = [...others, { ...last, set: next, entry: undefined }]
  const merged = mergeConfig(topology, stage.object(), config)
  const quick = prune({ kind, topology, merged, others, applier: { ...last, set: next, entry: undefined }, said: () => next, last })
  const slow = pruneAcrossVersions(kind, { merged, owners: all, last: { ...last, set: last.set } })
  assert.deepEqual(withoutNulls(quick), withoutNulls(slow))
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).flatMap(([name, member]) => (member === null ? [] : [[name, withoutNulls(member)]])))
}

function checkOwnership({ schema, stage, everSet }: World): void {
  const present = placesOf(schema, stage.object())
  const known = new Map(present.map((place) => [textOf(place.path), place]))
  const owned = new Set<string>()
  for (const { manager, operation, set } of readStoredEntries(stage.entries()))
    for (const path of pathsIn(set)) {
      owned.add(path)
      const isThere = known.has(path)
      assert.ok(isThere || isContainer(schema, path), `what ${manager} ${operation} owns is there: ${path}`)
      assert.ok(
        known.get(path)?.isOne !== true || everSet.get(`${manager} ${operation}`)?.has(path),
        `${manager} ${operation} owns what it set: ${path}`,
      )
    }
  for (const { path, isOne } of present) assert.ok(!isOne || owned.has(textOf(path)), `what is there has an owner: ${path.join(' ')}`)
}

/** A map, list or struct may lose its last part while somebody still owns it as such, and a plain struct is owned though it is empty. */
function isContainer(schema: s.StructNode, path: string): boolean {
  let node: s.SchemaNode = schema
  for (const element of path.split('\n')) {
    if (node.type === 'struct') node = (node.fields[element.slice(2)] as s.Field).node
    else if (node.type === 'map') node = node.value
    else if (node.type === 'list') node = node.item
  }
  return node.type === 'struct' || node.type === 'map' || node.type === 'list' || node.type === 'any'
}

/** An empty configuration removes exactly what only that applier owned. */
function checkRemoval({ schema, stage }: World, manager: string): void {
  const owners = readStoredEntries(stage.entries())
  const others = owners.filter((owner) => owner.manager !== manager || owner.operation !== 'Apply')
  const own = new Set(pathsIn(owners.find((owner) => !others.includes(owner))?.set))
  const kept = new Set(pathsIn(others.reduce<FieldSet | undefined>((all, { set }) => union(all, set), undefined)))
  const before = placesOf(schema, stage.object())
  const items = new Map(before.map((place) => [textOf(place.path), place.isItem]))
  const goes = (path: readonly string[]): boolean =>
    // A path goes with the item that holds it, if only the applier owned that.
    path.some((_, i) => {
      const part = textOf(path.slice(0, i + 1))
      return own.has(part) && !kept.has(part) && (i === path.length - 1 || items.get(part) === true)
    })
  const { apiVersion: _a, kind: _k, metadata: _m, ...outcome } = stage.preview(manager, {}).object as Plain
  const after = new Set(placesOf(schema, withoutNulls(outcome) as Plain).map(({ path }) => textOf(path)))
  for (const { path, isOne } of before)
    if (isOne) assert.equal(after.has(textOf(path)), !goes(path), `${manager} gives up ${path.join(' ')}`)
}

function play(seed: number, steps: number): void {
  const random = randomOf(seed)
  const schema = randomSchema(random)
  const world: World = { random, schema, stage: stageOf(schema), everSet: new Map(), log: [] }
  try {
    for (let step = 0; step < steps; step++) {
      if (random() < 0.65) randomApply(world)
      else randomUpdate(world)
      checkOwnership(world)
      for (const manager of managers) checkRemoval(world, manager)
    }
  } catch (thrown) {
    throw new Error(`seed ${seed}: ${String(thrown)}\n${world.log.join('\n')}`, { cause: thrown })
  }
}

test('random schemas, objects and writes of several managers', (t) => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  t.diagnostic(`seed ${seed}`)
  const end = performance.now() + (process.env['SEED'] === undefined ? 2500 : 0)
  let count = 0
  do play(seed + count++, 12)
  while (performance.now() < end)
  t.diagnostic(`${count} plays`)
})

test('operations on random sets agree with operations on sets of paths', () => {
  const random = randomOf(7)
  const elements = ['f:a', 'f:b', 'k:{"p":80}', 'k:{"p":443}', 'v:"x"', 'v:2', 'v:10']
  const randomSet = (): FieldSet | undefined => {
    let set: FieldSet | undefined
    for (let i = 0; i < random() * 6; i++)
      set = union(set, pathSet(Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(random, elements))))
    return set
  }
  for (let i = 0; i < 2000; i++) {
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
