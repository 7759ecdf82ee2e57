// Server-side apply of several managers: objects, owners and conflicts. Most cases follow recordings of kube-apiserver.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configMap, service, serviceAccount } from '../testing/kinds.fixture.js'
import { objectHarness } from '../testing/object-harness.fixture.js'

test('conflicts, force, shared, abandoned and transferred ownership', () => {
  const harness = objectHarness(configMap)
  const forced = { force: true }
  harness.apply('m1', { data: { a: '1', b: '1', c: '1' } })
  harness.apply('m2', { data: { a: '1', d: '2' } })
  assert.deepEqual(harness.object(), { data: { a: '1', b: '1', c: '1', d: '2' } })
  assert.deepEqual(harness.owners(), ['m1 Apply {"f:data":{"f:a":{},"f:b":{},"f:c":{}}}', 'm2 Apply {"f:data":{"f:a":{},"f:d":{}}}'])

  const conflict = harness.failure('m2', { data: { a: '1', b: '2', d: '2' } })
  assert.equal(conflict.kind, 'conflict')
  assert.equal(conflict.message, 'Apply failed with 1 conflict: conflict with "m1": .data.b')
  assert.deepEqual(conflict.causes, [{ reason: 'FieldManagerConflict', message: 'conflict with "m1"', field: '.data.b' }])
  assert.equal(
    harness.failure('m3', { data: { a: '3', b: '3', d: '3' } }).message,
    'Apply failed with 4 conflicts: conflicts with "m1":\n- .data.a\n- .data.b\nconflicts with "m2":\n- .data.a\n- .data.d',
  )

  harness.apply('m2', { data: { a: '1', b: '2', d: '2' } }, forced)
  assert.deepEqual(harness.owners(), ['m1 Apply {"f:data":{"f:a":{},"f:c":{}}}', 'm2 Apply {"f:data":{"f:a":{},"f:b":{},"f:d":{}}}'])
  harness.apply('m1', { data: { a: '1', b: '2', c: '1' } })
  harness.apply('m1', { data: { b: '2' } })
  assert.deepEqual(harness.object(), { data: { a: '1', b: '2', d: '2' } }, 'fields of m1 alone are removed, shared fields stay')
  harness.apply('m2', { data: { b: '2' } })
  assert.deepEqual(harness.object(), { data: { b: '2' } })

  harness.merge('n1', { data: { b: 'updated', e: 'new' } })
  assert.deepEqual(harness.owners(), ['n1 Update {"f:data":{"f:b":{},"f:e":{}}}'], 'an update takes ownership')
  assert.equal(harness.failure('m1', { data: { b: '2' } }).message, 'Apply failed with 1 conflict: conflict with "n1" using v1: .data.b')
  harness.apply('m1', { data: { b: 'updated' } })
  assert.equal(harness.entries()[0]?.time, undefined, 'an apply that changes nothing has no time')
  harness.apply('m1', { data: {} })
  assert.deepEqual(harness.owners(), ['m1 Apply {"f:data":{}}', 'n1 Update {"f:data":{"f:b":{},"f:e":{}}}'])
  harness.apply('m1', { data: { b: 'forced', e: 'forced' } }, forced)
  assert.deepEqual(harness.owners(), ['m1 Apply {"f:data":{"f:b":{},"f:e":{}}}'])

  harness.merge('n2', { data: { b: 'forced' } })
  assert.deepEqual(harness.owners(), ['m1 Apply {"f:data":{"f:b":{},"f:e":{}}}'], 'an update to the same value takes no ownership')
  harness.merge('m1', { data: { b: 'by update' } })
  assert.equal(
    harness.failure('m4', { data: { b: 'x', e: 'x' } }).message,
    'Apply failed with 2 conflicts: conflicts with "m1":\n- .data.e\nconflicts with "m1" using v1:\n- .data.b',
    'an apply conflicts with updates of the same manager',
  )
  harness.apply('m1', {})
  assert.deepEqual(harness.object(), { data: { b: 'by update' } })
  assert.deepEqual(harness.owners(), ['m1 Update {"f:data":{"f:b":{}}}'])
})

test('a repeated apply changes nothing, not even the time', () => {
  const harness = objectHarness(configMap)
  harness.apply('one', { metadata: { labels: { x: '1' } }, data: { k: 'v', l: 'w' } })
  const time = harness.entries()[0]?.time
  harness.apply('one', { metadata: { labels: { x: '1' } }, data: { k: 'v', l: 'w' } })
  assert.equal(harness.version(), 1)
  harness.apply('one', { metadata: { labels: { x: '1' } }, data: { k: 'v', multi: 'x' } })
  assert.equal(harness.version(), 2)
  assert.notEqual(harness.entries()[0]?.time, time)
  assert.deepEqual(harness.owners(), ['one Apply {"f:data":{"f:k":{},"f:multi":{}},"f:metadata":{"f:labels":{"f:x":{}}}}'])
})

const names = (...all: string[]) => all.map((name) => ({ name }))

test('keyed lists, sets and atomic lists of a ServiceAccount', () => {
  const harness = objectHarness(serviceAccount)
  harness.apply('m1', { metadata: { finalizers: ['e/a', 'e/b'] }, secrets: names('one', 'two'), imagePullSecrets: names('p') })
  assert.deepEqual(harness.owners(), [
    'm1 Apply {"f:imagePullSecrets":{},"f:metadata":{"f:finalizers":{"v:\\"e/a\\"":{},"v:\\"e/b\\"":{}}},"f:secrets":{"k:{\\"name\\":\\"one\\"}":{},"k:{\\"name\\":\\"two\\"}":{}}}',
  ])
  harness.apply('m2', { metadata: { finalizers: ['e/c', 'e/a'] }, secrets: names('three', 'one') })
  assert.deepEqual(harness.object(), {
    metadata: { finalizers: ['e/c', 'e/a', 'e/b'] },
    secrets: names('three', 'one', 'two'),
    imagePullSecrets: names('p'),
  })
  harness.apply('m1', { metadata: { finalizers: ['e/b'] }, secrets: names('two') })
  assert.deepEqual(harness.object(), { metadata: { finalizers: ['e/c', 'e/a', 'e/b'] }, secrets: names('three', 'one', 'two') })
  harness.apply('m2', { metadata: { finalizers: ['e/c'] }, secrets: names('three', 'zero', 'two') })
  assert.deepEqual(harness.object(), { metadata: { finalizers: ['e/c', 'e/b'] }, secrets: names('three', 'zero', 'two') })
  harness.apply('m2', { imagePullSecrets: names('q') })
  assert.deepEqual(harness.object(), { metadata: { finalizers: ['e/b'] }, secrets: names('two'), imagePullSecrets: names('q') })
  assert.equal(
    harness.failure('m3', { imagePullSecrets: names('q', 'r') }).message,
    'Apply failed with 1 conflict: conflict with "m2": .imagePullSecrets',
  )
})

test('composite list keys with a default', () => {
  const harness = objectHarness(service)
  harness.apply('m1', {
    spec: {
      ports: [
        { port: 80, name: 'a' },
        { port: 81, name: 'b', protocol: 'UDP' },
      ],
    },
  })
  assert.deepEqual(harness.owners(), [
    'm1 Apply {"f:spec":{"f:ports":{"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:name":{},"f:port":{}},"k:{\\"port\\":81,\\"protocol\\":\\"UDP\\"}":{".":{},"f:name":{},"f:port":{},"f:protocol":{}}}}}',
  ])
  harness.apply('m2', { spec: { ports: [{ port: 81, name: 'c', targetPort: 8081 }] } })
  assert.deepEqual(harness.object(), {
    spec: {
      ports: [
        { port: 80, name: 'a' },
        { port: 81, name: 'b', protocol: 'UDP' },
        { port: 81, name: 'c', targetPort: 8081 },
      ],
    },
  })
  harness.apply('m2', { spec: { ports: [{ port: 81, name: 'c', protocol: 'TCP', targetPort: 8082 }] } })
  const conflict = harness.failure('m3', { spec: { ports: [{ port: 80, protocol: 'TCP', name: 'z' }] } })
  assert.equal(conflict.message, 'Apply failed with 1 conflict: conflict with "m1": .spec.ports[port=80,protocol="TCP"].name')
  harness.apply('m1', { spec: { ports: [{ port: 80, name: 'a' }] } })
  assert.deepEqual(harness.object(), {
    spec: {
      ports: [
        { port: 80, name: 'a' },
        { port: 81, name: 'c', protocol: 'TCP', targetPort: 8082 },
      ],
    },
  })
})

test('__proto__, constructor and toString are ordinary names', () => {
  const harness = objectHarness(configMap)
  const data = JSON.parse('{"__proto__":"1","constructor":"2","toString":"3"}') as { [name: string]: string }
  harness.apply('m1', { data: data })
  assert.deepEqual(harness.owners(), ['m1 Apply {"f:data":{"f:__proto__":{},"f:constructor":{},"f:toString":{}}}'])
  harness.apply('m2', { data: { hasOwnProperty: 'x' } })
  assert.equal(harness.failure('m2', { data: JSON.parse('{"__proto__":"other"}') }).causes[0]?.field, '.data.__proto__')
  harness.apply('m1', { data: JSON.parse('{"__proto__":"1"}') })
  assert.equal(JSON.stringify(harness.object()), '{"data":{"__proto__":"1","hasOwnProperty":"x"}}')
  harness.put('n', { data: { hasOwnProperty: 'x', constructor: 'y' } })
  assert.deepEqual(harness.owners(), ['m2 Apply {"f:data":{"f:hasOwnProperty":{}}}', 'n Update {"f:data":{"f:constructor":{}}}'])
})

test('existing fields of an untracked object belong to before-first-apply', () => {
  const harness = objectHarness(configMap)
  harness.put('m1', { data: { k: 'v' } })
  harness.merge('m1', { metadata: { managedFields: [{}] } })
  assert.deepEqual(harness.owners(), [])
  harness.merge('m5', { data: { p: '1' } })
  assert.deepEqual(harness.owners(), [], 'an untracked object stays untracked until an apply')
  harness.apply('app', { data: { k: 'v' } })
  assert.deepEqual(harness.owners(), ['app Apply {"f:data":{"f:k":{}}}', 'before-first-apply Update {"f:data":{".":{},"f:k":{},"f:p":{}}}'])
  assert.equal(harness.entries()[0]?.time, undefined)
  assert.equal(harness.failure('app', { data: { k: 'other' } }).causes[0]?.message, 'conflict with "before-first-apply" using v1')
})

test('removing the last annotation keeps metadata that the server set', () => {
  const harness = objectHarness(configMap)
  harness.apply('one', { metadata: { uid: 'u', annotations: { a: 'b' } }, data: { k: 'v' } })
  harness.apply('one', { metadata: {}, data: { k: 'v' } })
  assert.deepEqual(harness.stored()?.['metadata'], {
    name: 'a',
    uid: 'u',
    managedFields: harness.entries(),
  })
  assert.deepEqual(harness.owners(), ['one Apply {"f:data":{"f:k":{}}}'])
})

test('a hundred conflicts are listed, the others counted', () => {
  const harness = objectHarness(configMap)
  const data = (value: string): Record<string, string> => Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, value]))
  harness.apply('m1', { data: data('1') })
  const { message, causes } = harness.failure('m2', { data: data('2') })
  assert.equal(causes.length, 100)
  assert.match(message, /^Apply failed with 1000 conflicts: conflicts with "m1":\n- \.data\.k0\n[\s\S]*\nand 900 more$/)
})

test('a hundred problems of a configuration are listed', () => {
  const harness = objectHarness(configMap)
  const data = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, []]))
  const lines = harness.failure('m', { data }).message.split('\n')
  assert.equal(lines.length, 102)
  assert.equal(lines.at(-1), '  and more')
})

test('the last-applied annotation is updated even if nothing else changes', () => {
  const annotation = 'kubectl/last-applied'
  const harness = objectHarness(configMap, { clientSideApply: { manager: 'kubectl', annotation } })
  harness.put('kubectl-client-side-apply', { metadata: { annotations: { [annotation]: '{"data":{"k":"old"}}' } }, data: { k: 'v' } })
  harness.apply('kubectl', { data: { k: 'v' } })
  const written = '{"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap","metadata":{"name":"a"}}\n'
  assert.deepEqual(harness.object(), { metadata: { annotations: { [annotation]: written } }, data: { k: 'v' } })
  const version = harness.version()
  harness.apply('kubectl', { data: { k: 'v' } })
  assert.equal(harness.version(), version, 'an annotation that is up to date is unchanged')
})
