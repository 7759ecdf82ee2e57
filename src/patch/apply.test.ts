// Apply as little plays: operations, then the object, then the owners. Most follow recordings of the reference.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configMap, service, serviceAccount } from './kinds.fixture.js'
import { stageOf } from './stage.fixture.js'

test('conflicts, force, shared, given up and transferred ownership', () => {
  const stage = stageOf(configMap)
  const forced = { force: true }
  stage.apply('m1', { data: { a: '1', b: '1', c: '1' } })
  stage.apply('m2', { data: { a: '1', d: '2' } })
  assert.deepEqual(stage.object(), { data: { a: '1', b: '1', c: '1', d: '2' } })
  assert.deepEqual(stage.owners(), ['m1 Apply {"f:data":{"f:a":{},"f:b":{},"f:c":{}}}', 'm2 Apply {"f:data":{"f:a":{},"f:d":{}}}'])

  const one = stage.failure('m2', { data: { a: '1', b: '2', d: '2' } })
  assert.equal(one.kind, 'conflict')
  assert.equal(one.message, 'Apply failed with 1 conflict: conflict with "m1": .data.b')
  assert.deepEqual(one.causes, [{ reason: 'FieldManagerConflict', message: 'conflict with "m1"', field: '.data.b' }])
  assert.equal(
    stage.failure('m3', { data: { a: '3', b: '3', d: '3' } }).message,
    'Apply failed with 4 conflicts: conflicts with "m1":\n- .data.a\n- .data.b\nconflicts with "m2":\n- .data.a\n- .data.d',
  )

  stage.apply('m2', { data: { a: '1', b: '2', d: '2' } }, forced)
  assert.deepEqual(stage.owners(), ['m1 Apply {"f:data":{"f:a":{},"f:c":{}}}', 'm2 Apply {"f:data":{"f:a":{},"f:b":{},"f:d":{}}}'])
  stage.apply('m1', { data: { a: '1', b: '2', c: '1' } })
  stage.apply('m1', { data: { b: '2' } })
  assert.deepEqual(stage.object(), { data: { a: '1', b: '2', d: '2' } }, 'what only m1 owned goes, what m2 owns as well stays')
  stage.apply('m2', { data: { b: '2' } })
  assert.deepEqual(stage.object(), { data: { b: '2' } })

  stage.merge('n1', { data: { b: 'updated', e: 'new' } })
  assert.deepEqual(stage.owners(), ['n1 Update {"f:data":{"f:b":{},"f:e":{}}}'], 'an update takes over')
  assert.equal(stage.failure('m1', { data: { b: '2' } }).message, 'Apply failed with 1 conflict: conflict with "n1" using v1: .data.b')
  stage.apply('m1', { data: { b: 'updated' } })
  assert.equal(stage.entries()[0]?.time, undefined, 'an opinion that changed nothing has no time')
  stage.apply('m1', { data: {} })
  assert.deepEqual(stage.owners(), ['m1 Apply {"f:data":{}}', 'n1 Update {"f:data":{"f:b":{},"f:e":{}}}'])
  stage.apply('m1', { data: { b: 'forced', e: 'forced' } }, forced)
  assert.deepEqual(stage.owners(), ['m1 Apply {"f:data":{"f:b":{},"f:e":{}}}'])

  stage.merge('n2', { data: { b: 'forced' } })
  assert.deepEqual(stage.owners(), ['m1 Apply {"f:data":{"f:b":{},"f:e":{}}}'], 'an update to the same value takes nothing')
  stage.merge('m1', { data: { b: 'by update' } })
  assert.equal(
    stage.failure('m4', { data: { b: 'x', e: 'x' } }).message,
    'Apply failed with 2 conflicts: conflicts with "m1":\n- .data.e\nconflicts with "m1" using v1:\n- .data.b',
    'a manager conflicts with itself if it wrote in another way',
  )
  stage.apply('m1', {})
  assert.deepEqual(stage.object(), { data: { b: 'by update' } })
  assert.deepEqual(stage.owners(), ['m1 Update {"f:data":{"f:b":{}}}'])
})

test('applying the same again changes nothing, not even the time', () => {
  const stage = stageOf(configMap)
  stage.apply('one', { metadata: { labels: { x: '1' } }, data: { k: 'v', l: 'w' } })
  const time = stage.entries()[0]?.time
  stage.apply('one', { metadata: { labels: { x: '1' } }, data: { k: 'v', l: 'w' } })
  assert.equal(stage.version(), 1)
  stage.apply('one', { metadata: { labels: { x: '1' } }, data: { k: 'v', multi: 'x' } })
  assert.equal(stage.version(), 2)
  assert.notEqual(stage.entries()[0]?.time, time)
  assert.deepEqual(stage.owners(), ['one Apply {"f:data":{"f:k":{},"f:multi":{}},"f:metadata":{"f:labels":{"f:x":{}}}}'])
})

const names = (...all: string[]) => all.map((name) => ({ name }))

test('lists by key, sets and atomic lists of a service account', () => {
  const stage = stageOf(serviceAccount)
  stage.apply('m1', { metadata: { finalizers: ['e/a', 'e/b'] }, secrets: names('one', 'two'), imagePullSecrets: names('p') })
  assert.deepEqual(stage.owners(), [
    'm1 Apply {"f:imagePullSecrets":{},"f:metadata":{"f:finalizers":{"v:\\"e/a\\"":{},"v:\\"e/b\\"":{}}},"f:secrets":{"k:{\\"name\\":\\"one\\"}":{},"k:{\\"name\\":\\"two\\"}":{}}}',
  ])
  stage.apply('m2', { metadata: { finalizers: ['e/c', 'e/a'] }, secrets: names('three', 'one') })
  assert.deepEqual(stage.object(), {
    metadata: { finalizers: ['e/c', 'e/a', 'e/b'] },
    secrets: names('three', 'one', 'two'),
    imagePullSecrets: names('p'),
  })
  stage.apply('m1', { metadata: { finalizers: ['e/b'] }, secrets: names('two') })
  assert.deepEqual(stage.object(), { metadata: { finalizers: ['e/c', 'e/a', 'e/b'] }, secrets: names('three', 'one', 'two') })
  stage.apply('m2', { metadata: { finalizers: ['e/c'] }, secrets: names('three', 'zero', 'two') })
  assert.deepEqual(stage.object(), { metadata: { finalizers: ['e/c', 'e/b'] }, secrets: names('three', 'zero', 'two') })
  stage.apply('m2', { imagePullSecrets: names('q') })
  assert.deepEqual(stage.object(), { metadata: { finalizers: ['e/b'] }, secrets: names('two'), imagePullSecrets: names('q') })
  assert.equal(
    stage.failure('m3', { imagePullSecrets: names('q', 'r') }).message,
    'Apply failed with 1 conflict: conflict with "m2": .imagePullSecrets',
  )
})

test('composite keys with a default', () => {
  const stage = stageOf(service)
  stage.apply('m1', {
    spec: {
      ports: [
        { port: 80, name: 'a' },
        { port: 81, name: 'b', protocol: 'UDP' },
      ],
    },
  })
  assert.deepEqual(stage.owners(), [
    'm1 Apply {"f:spec":{"f:ports":{"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:name":{},"f:port":{}},"k:{\\"port\\":81,\\"protocol\\":\\"UDP\\"}":{".":{},"f:name":{},"f:port":{},"f:protocol":{}}}}}',
  ])
  stage.apply('m2', { spec: { ports: [{ port: 81, name: 'c', targetPort: 8081 }] } })
  assert.deepEqual(stage.object(), {
    spec: {
      ports: [
        { port: 80, name: 'a' },
        { port: 81, name: 'b', protocol: 'UDP' },
        { port: 81, name: 'c', targetPort: 8081 },
      ],
    },
  })
  stage.apply('m2', { spec: { ports: [{ port: 81, name: 'c', protocol: 'TCP', targetPort: 8082 }] } })
  const conflict = stage.failure('m3', { spec: { ports: [{ port: 80, protocol: 'TCP', name: 'z' }] } })
  assert.equal(conflict.message, 'Apply failed with 1 conflict: conflict with "m1": .spec.ports[port=80,protocol="TCP"].name')
  stage.apply('m1', { spec: { ports: [{ port: 80, name: 'a' }] } })
  assert.deepEqual(stage.object(), {
    spec: {
      ports: [
        { port: 80, name: 'a' },
        { port: 81, name: 'c', protocol: 'TCP', targetPort: 8082 },
      ],
    },
  })
})

test('names that every object answers to are names like any other', () => {
  const stage = stageOf(configMap)
  const odd = JSON.parse('{"__proto__":"1","constructor":"2","toString":"3"}') as { [name: string]: string }
  stage.apply('m1', { data: odd })
  assert.deepEqual(stage.owners(), ['m1 Apply {"f:data":{"f:__proto__":{},"f:constructor":{},"f:toString":{}}}'])
  stage.apply('m2', { data: { hasOwnProperty: 'x' } })
  assert.equal(stage.failure('m2', { data: JSON.parse('{"__proto__":"other"}') }).causes[0]?.field, '.data.__proto__')
  stage.apply('m1', { data: JSON.parse('{"__proto__":"1"}') })
  assert.equal(JSON.stringify(stage.object()), '{"data":{"__proto__":"1","hasOwnProperty":"x"}}')
  stage.put('n', { data: { hasOwnProperty: 'x', constructor: 'y' } })
  assert.deepEqual(stage.owners(), ['m2 Apply {"f:data":{"f:hasOwnProperty":{}}}', 'n Update {"f:data":{"f:constructor":{}}}'])
})

test('what an object holds before its first apply belongs to before-first-apply', () => {
  const stage = stageOf(configMap)
  stage.put('m1', { data: { k: 'v' } })
  stage.merge('m1', { metadata: { managedFields: [{}] } })
  assert.deepEqual(stage.owners(), [])
  stage.merge('m5', { data: { p: '1' } })
  assert.deepEqual(stage.owners(), [], 'nobody keeps track until somebody applies')
  stage.apply('app', { data: { k: 'v' } })
  assert.deepEqual(stage.owners(), ['app Apply {"f:data":{"f:k":{}}}', 'before-first-apply Update {"f:data":{".":{},"f:k":{},"f:p":{}}}'])
  assert.equal(stage.entries()[0]?.time, undefined)
  assert.equal(stage.failure('app', { data: { k: 'other' } }).causes[0]?.message, 'conflict with "before-first-apply" using v1')
})

test('an applier that gives up its last label or annotation leaves what the server set of the metadata', () => {
  const stage = stageOf(configMap)
  stage.apply('one', { metadata: { uid: 'u', annotations: { a: 'b' } }, data: { k: 'v' } })
  stage.apply('one', { metadata: {}, data: { k: 'v' } })
  assert.deepEqual(stage.stored()?.['metadata'], {
    name: 'a',
    uid: 'u',
    managedFields: stage.entries(),
  })
  assert.deepEqual(stage.owners(), ['one Apply {"f:data":{"f:k":{}}}'])
})

test('of many conflicts a hundred are told, and how many more there are', () => {
  const stage = stageOf(configMap)
  const data = (value: string): Record<string, string> => Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, value]))
  stage.apply('m1', { data: data('1') })
  const { message, causes } = stage.failure('m2', { data: data('2') })
  assert.equal(causes.length, 100)
  assert.match(message, /^Apply failed with 1000 conflicts: conflicts with "m1":\n- \.data\.k0\n[\s\S]*\nand 900 more$/)
})

test('of many problems of a configuration a hundred are told', () => {
  const stage = stageOf(configMap)
  const data = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, []]))
  const lines = stage.failure('m', { data }).message.split('\n')
  assert.equal(lines.length, 102)
  assert.equal(lines.at(-1), '  and more')
})

test('the annotation of client-side apply follows, even where nothing else changes', () => {
  const annotation = 'kubectl/last-applied'
  const stage = stageOf(configMap, { clientSideApply: { manager: 'kubectl', annotation } })
  stage.put('kubectl-client-side-apply', { metadata: { annotations: { [annotation]: '{"data":{"k":"old"}}' } }, data: { k: 'v' } })
  stage.apply('kubectl', { data: { k: 'v' } })
  const written = '{"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap","metadata":{"name":"a"}}\n'
  assert.deepEqual(stage.object(), { metadata: { annotations: { [annotation]: written } }, data: { k: 'v' } })
  const version = stage.version()
  stage.apply('kubectl', { data: { k: 'v' } })
  assert.equal(stage.version(), version, 'what is up to date stays')
})
