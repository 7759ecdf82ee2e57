// The client's table of kinds against the server's: the same kinds, names, scopes and subresources, each with the type of its own schema.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { ResourceDefinition } from '../../api/definition.js'
import { definitions } from '../../resources/index.js'
import { Collection } from '../collection.js'
import { PodCollection } from '../pod-collection.js'
import { NamespaceCollection, ReviewCollection, ScaledCollection, StatusCollection } from './collections.js'
import { kinds } from './kinds.js'
import type { GroupEntry, KindEntry } from './typed-client.js'

interface Row {
  readonly id: string
  readonly entry: KindEntry<unknown>
}

const groupText = (group: unknown): string => (typeof group === 'string' ? group : `${(group as { stem: string }).stem}.`)

const rows: readonly Row[] = Object.values(
  kinds as unknown as Record<string, GroupEntry<Record<string, Record<string, KindEntry<unknown>>>>>,
).flatMap(({ group, versions }) =>
  Object.entries(versions).flatMap(([version, entries]) =>
    Object.entries(entries).map(([name, entry]) => ({
      id: `${groupText(group)}/${version}/${name.toLowerCase()}/${entry.kind}/${entry.namespaced}`,
      entry,
    })),
  ),
)

const served = (definitions as readonly ResourceDefinition[]).flatMap((definition) =>
  definition.versions
    .filter(({ unserved }) => unserved !== true)
    .map(({ name }) => ({
      id: `${groupText(definition.group)}/${name}/${definition.resource}/${definition.kind}/${definition.namespaced}`,
      definition,
    })),
)

test('every kind and version that the server serves, and no other', () => {
  assert.deepEqual(rows.map(({ id }) => id).toSorted(), served.map(({ id }) => id).toSorted())
})

test('collections have the subresources that the server has', () => {
  const byId = new Map(rows.map(({ id, entry }) => [id, entry.type as unknown]))
  for (const { id, definition } of served) {
    const type = byId.get(id) as { readonly prototype: object }
    const has = (name: string): boolean => definition.subresources?.some((one) => one.name === name) ?? false
    const isA = (...types: readonly unknown[]): boolean => types.some((one) => one === type || Object.getPrototypeOf(type) === one)
    assert.equal(type === ReviewCollection, definition.verbs?.join() === 'create', id)
    if (type === ReviewCollection) continue
    assert.equal('status' in type.prototype, has('status'), `${id}: status`)
    assert.equal('scale' in type.prototype, has('scale'), `${id}: scale`)
    assert.ok(isA(Collection, StatusCollection, ScaledCollection, PodCollection, NamespaceCollection), id)
  }
})

/** Types are gone when tests run, so the texts are compared: an interface must be of the schema with its own name and version. */
test('each entry has the type of its kind and version', () => {
  const read = (name: string): string => readFileSync(fileURLToPath(new URL(`../../../src/client/typed/${name}`, import.meta.url)), 'utf8')
  const types = new Map(
    [...read('types.ts').matchAll(/^export interface (\w+) extends (\w+)\.(\w+) \{\}$/gm)].map(([, name = '', module = '', type = '']) => [
      name,
      { module, type },
    ]),
  )
  let group = ''
  let version = ''
  let seen = 0
  for (const line of read('kinds.ts').split('\n')) {
    group = /^ {2}(\w+): group\(/.exec(line)?.[1] ?? group
    version = /^ {4,6}(v\w+): \{$/.exec(line)?.[1] ?? version
    const [, name] = /<types\.(\w+)>/.exec(line) ?? []
    if (name === undefined) continue
    seen++
    const type = types.get(name)
    assert.equal(type?.module, `${group}${version[0]?.toUpperCase()}${version.slice(1)}`, name)
    assert.ok(name.startsWith(type?.type ?? '?'), `${name} is ${type?.type}`)
    const kind = /'(\w+)', \w+</.exec(line)?.[1]
    if (kind !== undefined) assert.equal(type?.type, kind)
  }
  assert.ok(seen > 55, `${seen} entries with types`)
})
