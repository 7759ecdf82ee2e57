// Table of kinds of the typed client compared with the server's definitions and the types of the schemas.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { ResourceDefinition } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import { definitions } from '@cluster-apiserver/api/resources/index.js'
import { Collection } from '../collection.js'
import { PodCollection } from '../pods/pod-collection.js'
import {
  type GroupEntry,
  type KindEntry,
  kinds,
  NamespaceCollection,
  ReviewCollection,
  ScaledCollection,
  StatusCollection,
} from './kinds.js'

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

test('the table has exactly the kinds and versions that the server serves', () => {
  assert.deepEqual(rows.map(({ id }) => id).toSorted(), served.map(({ id }) => id).toSorted())
})

test('collection classes have the status and scale subresources of the server', () => {
  const byId = new Map(rows.map(({ id, entry }) => [id, entry.type as unknown]))
  for (const { id, definition } of served) {
    const type = byId.get(id) as { readonly prototype: object }
    const has = (name: string): boolean => definition.subresources?.some((candidate) => candidate.name === name) ?? false
    const isA = (...types: readonly unknown[]): boolean =>
      types.some((candidate) => candidate === type || Object.getPrototypeOf(type) === candidate)
    assert.equal(type === ReviewCollection, definition.verbs?.join() === 'create', id)
    if (type === ReviewCollection) continue
    assert.equal('status' in type.prototype, has('status'), `${id}: status`)
    assert.equal('scale' in type.prototype, has('scale'), `${id}: scale`)
    assert.ok(isA(Collection, StatusCollection, ScaledCollection, PodCollection, NamespaceCollection), id)
  }
})

/** Compares source texts, because types do not exist at run time. */
test('each entry has the interface of its kind, group and version', () => {
  const read = (name: string): string => readFileSync(fileURLToPath(new URL(`../../src/typed/${name}`, import.meta.url)), 'utf8')
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
