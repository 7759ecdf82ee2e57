// Server-side apply of custom resources: all list, map and struct topologies, schema changes, versions and subresources.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as s from '../../schema/node.js'
import { resetFieldSet } from '../managed-fields/ownable-fields.js'
import { deepFreeze, objectHarness } from '../testing/object-harness.fixture.js'

const optional = { pointer: true }
const port = s.struct('Port', {
  port: s.jsonField(s.int64, optional),
  proto: s.jsonField(s.string, { ...optional, default: 'TCP' }),
  name: s.jsonField(s.string, optional),
})
const pair = s.struct('Pair', { a: s.jsonField(s.int64, optional), b: s.jsonField(s.int64, optional) })
const meshSpec = (whole: 'atomic' | 'granular') =>
  s.struct('MeshSpec', {
    list: s.jsonField(s.list(s.string), optional),
    set: s.jsonField(s.list(s.string, { listType: 'set' }), optional),
    ports: s.jsonField(s.list(port, { listType: 'map', keys: ['port', 'proto'] }), optional),
    whole: s.jsonField(pair, { ...optional, mapType: whole }),
    parts: s.jsonField(pair, optional),
    tags: s.jsonField(s.map(s.string), optional),
    size: s.jsonField(s.int64, optional),
    open: s.jsonField(s.any('json'), optional),
    free: s.jsonField({ type: 'any', form: 'json', granular: true }, optional),
  })
const metadata = s.struct('Meta', {
  name: s.jsonField(s.string),
  labels: s.jsonField(s.map(s.string)),
  annotations: s.jsonField(s.map(s.string)),
})
const meshOf = (whole: 'atomic' | 'granular' = 'atomic') =>
  s.struct(
    'Mesh',
    {
      metadata: s.jsonField(metadata),
      spec: s.jsonField(meshSpec(whole), optional),
      status: s.jsonField(s.struct('MeshStatus', { phase: s.jsonField(s.string, optional) }), optional),
    },
    { typeMeta: true },
  )
const mesh = meshOf()

test('lists, maps and structs of every topology', () => {
  const harness = objectHarness(mesh)
  const forced = { force: true }
  const all = {
    list: ['p'],
    set: ['x', 'y'],
    ports: [{ port: 1, name: 'one' }],
    whole: { a: 1 },
    parts: { a: 1 },
    tags: { k: 'v' },
    size: 1,
  }
  harness.apply('alpha', { spec: all })
  harness.apply('alpha', { spec: all })
  assert.equal(harness.version(), 1)
  harness.apply('beta', {
    spec: {
      set: ['y', 'z'],
      ports: [
        { port: 1, proto: 'UDP' },
        { port: 1, proto: 'TCP' },
      ],
      parts: { b: 2 },
      tags: { l: 'w' },
    },
  })
  assert.deepEqual(harness.object()['spec'], {
    ...all,
    set: ['x', 'y', 'z'],
    ports: [
      { port: 1, proto: 'UDP' },
      { port: 1, proto: 'TCP', name: 'one' },
    ],
    parts: { a: 1, b: 2 },
    tags: { k: 'v', l: 'w' },
  })
  assert.equal(
    harness.failure('beta', { spec: { whole: { a: 1, b: 2 } } }).message,
    'Apply failed with 1 conflict: conflict with "alpha": .spec.whole',
  )
  assert.equal(
    harness.failure('beta', { spec: { size: 2, ports: [{ port: 1, name: 'uno' }], tags: { k: 'other' } } }).message,
    'Apply failed with 3 conflicts: conflicts with "alpha":\n- .spec.size\n- .spec.ports[port=1,proto="TCP"].name\n- .spec.tags.k',
  )
  harness.apply('beta', { spec: { size: 1, set: ['y', 'z'] } })
  assert.deepEqual(harness.object()['spec'], { ...all, set: ['x', 'y', 'z'] })
  harness.apply('gamma', { spec: { size: 3, ports: [{ port: 1, name: 'uno' }] } }, forced)
  harness.apply('alpha', { spec: { set: ['x'], ports: [{ port: 1 }] } })
  assert.deepEqual(harness.object()['spec'], { ports: [{ port: 1, name: 'uno' }], set: ['x', 'y', 'z'], size: 3 })
  assert.deepEqual(harness.owners(), [
    'beta Apply {"f:spec":{"f:set":{"v:\\"y\\"":{},"v:\\"z\\"":{}}}}',
    'gamma Apply {"f:spec":{"f:ports":{"k:{\\"port\\":1,\\"proto\\":\\"TCP\\"}":{".":{},"f:name":{},"f:port":{}}},"f:size":{}}}',
    'alpha Apply {"f:spec":{"f:ports":{"k:{\\"port\\":1,\\"proto\\":\\"TCP\\"}":{".":{},"f:port":{}}},"f:set":{"v:\\"x\\"":{}}}}',
  ])
  harness.merge('zeta', { spec: { set: ['x', 'n'], size: 5 } })
  assert.deepEqual(harness.owners().slice(0, 3), [
    'gamma Apply {"f:spec":{"f:ports":{"k:{\\"port\\":1,\\"proto\\":\\"TCP\\"}":{".":{},"f:name":{},"f:port":{}}}}}',
    'alpha Apply {"f:spec":{"f:ports":{"k:{\\"port\\":1,\\"proto\\":\\"TCP\\"}":{".":{},"f:port":{}}},"f:set":{"v:\\"x\\"":{}}}}',
    'zeta Update {"f:spec":{"f:set":{"v:\\"n\\"":{}},"f:size":{}}}',
  ])
})

test('unstructured JSON is atomic, or owned by member if granular', () => {
  const harness = objectHarness(mesh)
  harness.apply('m1', { spec: { open: { a: 1 }, free: { deep: { a: 1 }, list: [1] } } })
  assert.deepEqual(harness.owners(), ['m1 Apply {"f:spec":{"f:free":{"f:deep":{".":{},"f:a":{}},"f:list":{}},"f:open":{}}}'])
  harness.apply('m2', { spec: { free: { deep: { b: 2 } } } })
  assert.deepEqual(harness.object()['spec'], { open: { a: 1 }, free: { deep: { a: 1, b: 2 }, list: [1] } })
  assert.equal(harness.failure('m2', { spec: { open: { b: 1 } } }).causes[0]?.field, '.spec.open')
  assert.equal(harness.failure('m2', { spec: { free: { list: [2] } } }).causes[0]?.field, '.spec.free.list')
  harness.apply('m1', { spec: { free: { deep: { a: 1 } } } })
  assert.deepEqual(harness.object()['spec'], { free: { deep: { a: 1, b: 2 } } })
})

test('subresources have their own entries and do not touch reset fields', () => {
  const harness = objectHarness(mesh)
  const main = { reset: resetFieldSet(['status']) }
  const status = { subresource: 'status', reset: resetFieldSet(['spec']) }
  harness.apply('m', { spec: { size: 1 }, status: { phase: 'ignored' } }, main)
  assert.deepEqual(harness.owners(), ['m Apply {"f:spec":{"f:size":{}}}'])
  harness.merge('m', { status: { phase: 'Up' }, spec: { size: 1 } }, status)
  harness.apply('m', { status: { phase: 'Up' } }, status)
  assert.deepEqual([...harness.owners()].sort(), [
    'm Apply status {"f:status":{"f:phase":{}}}',
    'm Apply {"f:spec":{"f:size":{}}}',
    'm Update status {"f:status":{"f:phase":{}}}',
  ])
  const conflict = harness.failure('other', { status: { phase: 'Down' } }, status)
  assert.deepEqual(
    conflict.causes.map(({ message }) => message),
    ['conflict with "m" with subresource "status"', 'conflict with "m" with subresource "status" using v1'],
  )
})

test('a struct that becomes atomic is owned by all managers of its fields', () => {
  const granular = objectHarness(meshOf('granular'))
  granular.apply('m1', { spec: { whole: { a: 1 } } })
  granular.apply('m2', { spec: { whole: { b: 2 } } })
  const entries = granular.entries()
  const harness = objectHarness(mesh)
  harness.put('n', { spec: { whole: { a: 1, b: 2 } }, metadata: { managedFields: entries } })
  harness.merge('n', { metadata: { managedFields: entries } })
  assert.equal(
    harness.failure('m1', { spec: { whole: { a: 1 } } }).message,
    'Apply failed with 1 conflict: conflict with "m2": .spec.whole',
    'both managers own the struct',
  )
  harness.apply('m3', { spec: { size: 1 } })
  assert.deepEqual(harness.owners().slice(0, 2), ['m1 Apply {"f:spec":{"f:whole":{}}}', 'm2 Apply {"f:spec":{"f:whole":{}}}'])
})

test('a struct that becomes granular: its fields have no managers', () => {
  const atomic = objectHarness(mesh)
  atomic.apply('m1', { spec: { whole: { a: 1 } } })
  const harness = objectHarness(meshOf('granular'))
  harness.put('n', { spec: { whole: { a: 1 } } })
  harness.merge('n', { metadata: { managedFields: atomic.entries() } })
  harness.apply('m2', { spec: { whole: { a: 2 } } })
  assert.deepEqual(harness.object()['spec'], { whole: { a: 2 } }, 'no conflict')
})

test('invalid configurations are rejected', () => {
  const rows: readonly { name: string; config: { [name: string]: unknown }; kind: string; message: string }[] = [
    {
      name: 'wrong version',
      config: { apiVersion: 'v2' },
      kind: 'malformed',
      message: 'Incorrect version specified in apply patch. Specified patch version: v2, expected: v1',
    },
    {
      name: 'managedFields',
      config: { metadata: { managedFields: [] } },
      kind: 'malformed',
      message: 'metadata.managedFields must be nil',
    },
    {
      name: 'wrong kind',
      config: { kind: 'Odd' },
      kind: 'untyped',
      message: 'failed to create typed patch object (/a; /v1, Kind=Odd): no corresponding type for /v1, Kind=Odd',
    },
    {
      name: 'unknown field',
      config: { extra: 1 },
      kind: 'untyped',
      message: 'failed to create typed patch object (/a; /v1, Kind=Mesh): .extra: field not declared in schema',
    },
    {
      name: 'duplicate in a set',
      config: { spec: { set: ['x', 'x'] } },
      kind: 'untyped',
      message: 'failed to create typed patch object (/a; /v1, Kind=Mesh): .spec.set: duplicate entries for key [="x"]',
    },
    {
      name: 'duplicate key',
      config: { spec: { ports: [{ port: 1 }, { port: 1, proto: 'TCP' }] } },
      kind: 'untyped',
      message: 'failed to create typed patch object (/a; /v1, Kind=Mesh): .spec.ports: duplicate entries for key [port=1,proto="TCP"]',
    },
    {
      name: 'missing key',
      config: { spec: { ports: [{ port: 1 }, { name: 'x' }] } },
      kind: 'untyped',
      message: `failed to create typed patch object (/a; /v1, Kind=Mesh): .spec.ports: element 1: associative list with keys has an element that omits key field "port" (and doesn't have default value)`,
    },
    {
      name: 'null among keyed items',
      config: { spec: { ports: [null] } },
      kind: 'untyped',
      message:
        'failed to create typed patch object (/a; /v1, Kind=Mesh): .spec.ports: element 0: associative list with keys may not have a null element',
    },
    {
      name: 'string among keyed items',
      config: { spec: { ports: ['x'] } },
      kind: 'untyped',
      message:
        'failed to create typed patch object (/a; /v1, Kind=Mesh): .spec.ports: element 0: associative list with keys may not have non-map elements',
    },
    {
      name: 'list in a set',
      config: { spec: { set: [['x']] } },
      kind: 'untyped',
      message:
        'failed to create typed patch object (/a; /v1, Kind=Mesh): .spec.set: element 0: not supported: associative list with lists as elements',
    },
    {
      name: 'string for a number',
      config: { spec: { size: 'big' } },
      kind: 'untyped',
      message: 'failed to create typed patch object (/a; /v1, Kind=Mesh): .spec.size: expected numeric (int or float), got string',
    },
    {
      name: 'string for a list',
      config: { spec: { ports: 'one' } },
      kind: 'untyped',
      message: 'failed to create typed patch object (/a; /v1, Kind=Mesh): .spec.ports: expected list, got string',
    },
    {
      name: 'several problems',
      config: { spec: { size: true, parts: [], ports: [{ port: 1, name: 2 }] } },
      kind: 'untyped',
      message:
        'failed to create typed patch object (/a; /v1, Kind=Mesh): errors:\n  .spec.size: expected numeric (int or float), got boolean\n  .spec.parts: expected map, got list\n  .spec.ports[port=1,proto="TCP"].name: expected string, got number',
    },
  ]
  for (const { name, config, kind, message } of rows) {
    const failure = objectHarness(mesh).failure('m', deepFreeze(config))
    assert.deepEqual({ kind: failure.kind, message: failure.message }, { kind, message }, name)
  }
})

test('null unsets a scalar or a map, and the manager owns it', () => {
  const harness = objectHarness(mesh)
  harness.apply('m1', { spec: { size: 1, tags: { k: 'v' } } })
  harness.apply('m1', { spec: { size: null, tags: null } })
  assert.deepEqual(harness.object(), { spec: {} })
  assert.deepEqual(harness.owners(), ['m1 Apply {"f:spec":{"f:size":{},"f:tags":{}}}'])
})

test('managers that apply different API versions', () => {
  const old = s.struct(
    'Mesh',
    { metadata: s.jsonField(metadata), count: s.jsonField(s.int64, optional), label: s.jsonField(s.string, optional) },
    { typeMeta: true },
  )
  const convert = (object: object, apiVersion: string): object | undefined => {
    const { count, label, spec, ...rest } = object as { [name: string]: unknown; spec?: { size?: number; tags?: { label?: string } } }
    if (apiVersion === 'v1') {
      const inner = { ...(count === undefined ? {} : { size: count }), ...(label === undefined ? {} : { tags: { label } }) }
      return spec !== undefined ? object : { ...rest, apiVersion, spec: inner }
    }
    if (apiVersion !== 'v0') return undefined
    return spec === undefined
      ? object
      : {
          ...rest,
          apiVersion,
          ...(spec.size === undefined ? {} : { count: spec.size }),
          ...(spec.tags?.label === undefined ? {} : { label: spec.tags.label }),
        }
  }
  const harness = objectHarness(mesh, {
    schemaFor: (apiVersion) => (apiVersion === 'v0' ? old : apiVersion === 'v1' ? mesh : undefined),
    convert,
  })
  harness.apply('m1', { spec: { size: 1, tags: { label: 'x' } } })
  assert.equal(
    harness.failure('m2', { count: 2 }, { apiVersion: 'v0', schema: old }).message,
    'Apply failed with 1 conflict: conflict with "m1": .spec.size',
    'the conflict shows the path in the version of the owner',
  )
  harness.apply('m2', { count: 1 }, { apiVersion: 'v0', schema: old })
  assert.deepEqual(
    harness.entries().map(({ manager, apiVersion, fieldsV1 }) => [manager, apiVersion, JSON.stringify(fieldsV1)]),
    [
      ['m2', 'v0', '{"f:count":{}}'],
      ['m1', 'v1', '{"f:spec":{"f:size":{},"f:tags":{"f:label":{}}}}'],
    ],
  )
  harness.apply('m1', { spec: { tags: { label: 'x' } } })
  assert.deepEqual(harness.object()['spec'], { size: 1, tags: { label: 'x' } }, 'the size stays, because m2 owns it as count')
  harness.apply('m2', {}, { apiVersion: 'v0', schema: old })
  assert.deepEqual(harness.object()['spec'], { tags: { label: 'x' } })
})

test('client-side apply migrates without conflicts', () => {
  const annotation = 'example.com/last-applied'
  const config = { apiVersion: 'v1', kind: 'Mesh', metadata: { name: 'a' }, spec: { size: 1, tags: { k: 'v' } } }
  const setUp = () => {
    const harness = objectHarness(mesh, { clientSideApply: { manager: 'ctl', annotation } })
    harness.put('ctl-client-side-apply', { metadata: { annotations: { [annotation]: `${JSON.stringify(config)}\n` } }, spec: config.spec })
    return harness
  }
  const harness = setUp()
  assert.equal(harness.failure('someone', { spec: { size: 2 } }).causes.length, 1)
  harness.apply('ctl', { spec: { size: 2, tags: { k: 'v' } } })
  assert.deepEqual(harness.object(), {
    metadata: {
      annotations: { [annotation]: '{"apiVersion":"v1","kind":"Mesh","metadata":{"name":"a"},"spec":{"size":2,"tags":{"k":"v"}}}\n' },
    },
    spec: { size: 2, tags: { k: 'v' } },
  })
  const changed = setUp()
  changed.merge('else', { spec: { size: 5 } })
  assert.equal(
    changed.failure('ctl', { spec: { size: 2 } }).causes[0]?.message,
    'conflict with "else" using v1',
    'fields that another manager changed still conflict',
  )
})
