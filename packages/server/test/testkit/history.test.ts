// server.history: every version of an object, with who changed which field.

import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type EmbeddedServer, type ObjectVersion, startServer } from 'cluster-apiserver'
import { newFolder } from '../../../../test/kit/server-process.js'

let server: EmbeddedServer
before(async () => {
  server = await startServer({ objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }] })
})
after(() => server.close({ immediately: true }))

const authorsOf = (versions: readonly ObjectVersion[]): readonly string[] => versions.map(({ verb, user }) => `${verb} by ${user}`)

const linesOf = ({ changes }: Pick<ObjectVersion, 'changes'>): readonly string[] =>
  changes
    .filter(({ path }) => !/^(?:apiVersion|kind|metadata\.(?:uid|name|namespace|creationTimestamp|generation))$/.test(path))
    .map(({ path, before, after }) => `${path}: ${JSON.stringify(before)} -> ${JSON.stringify(after)}`)

const masters = ['system:masters']

test('every version has its author, verb, field manager and changed fields', async () => {
  const alice = server.as('alice', masters).client.core.v1.configMaps('shop')
  const bob = server.as('bob', masters).client.core.v1.configMaps('shop')
  await alice.create({ metadata: { name: 'total' }, data: { tea: '1' } })
  await bob.patch('total', { data: { tea: '2', coffee: '1' }, metadata: { labels: { 'shop.example.com/kind': 'drinks' } } })
  await alice.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'total' }, data: { milk: '3' } }, { fieldManager: 'till' })
  await bob.delete('total')
  const history = server.history('configmaps/shop/total')
  const { versions } = history
  assert.deepEqual(authorsOf(versions), ['create by alice', 'patch by bob', 'patch by alice', 'delete by bob'])
  assert.deepEqual(versions.map(linesOf), [
    ['data.tea: undefined -> "1"'],
    [`metadata.labels['shop.example.com/kind']: undefined -> "drinks"`, 'data.tea: "1" -> "2"', 'data.coffee: undefined -> "1"'],
    ['data.milk: undefined -> "3"'],
    [],
  ])
  assert.deepEqual(
    versions.map(({ manager }) => manager),
    ['cluster-apiserver-client', 'cluster-apiserver-client', 'till', undefined],
  )
  assert.equal(versions.at(-1)?.object, undefined)
  assert.equal(history.completeFrom, undefined)
  const [created, patched] = versions
  assert.deepEqual(history.at(created?.resourceVersion ?? '')?.['data'], { tea: '1' })
  assert.deepEqual(history.at(Number(patched?.resourceVersion))?.['data'], { tea: '2', coffee: '1' })
  assert.equal(history.at(new Date(Date.now() + 60_000)), undefined, 'it is deleted')
  assert.equal(history.at('2001-01-01T00:00:00Z'), undefined, 'it did not exist')
  assert.deepEqual(linesOf({ changes: history.diff(created?.resourceVersion ?? '', versions[2]?.resourceVersion ?? '') }).slice(1), [
    'data.tea: "1" -> "2"',
    'data.coffee: undefined -> "1"',
    'data.milk: undefined -> "3"',
  ])
  assert.throws(() => history.at('yesterday'), /"yesterday" is neither a time nor a resourceVersion/)
  const text = history.text()
  assert.match(text, /^configmaps\/shop\/total\n {2}\d+ {2}\S+ {2}create by alice \(cluster-apiserver-client\)\n/)
  assert.match(text, /\n {4}~ data\.tea: "1" -> "2"\n/)
  assert.match(text, / delete by bob$/)
})

test('controllers are authors by their names, and quotas are charged by the user', async () => {
  const { client } = server
  await client.core.v1.resourceQuotas('shop').create({ metadata: { name: 'few' }, spec: { hard: { configmaps: '9' } } })
  await server.idle()
  await server
    .as('carol', masters)
    .client.core.v1.configMaps('shop')
    .create({ metadata: { name: 'counted' } })
  const { versions } = server.history('resourcequotas/shop/few')
  assert.deepEqual(authorsOf(versions), [`create by ${server.user}`, 'update by system:controller:resourcequota', 'update by carol'])
  assert.deepEqual(versions[2] && linesOf(versions[2]), ['status.used.configmaps: "0" -> "1"'])
  await client.core.v1.namespaces().create({ metadata: { name: 'short' } })
  await server.idle()
  await client.core.v1.namespaces().delete('short')
  await server.idle()
  const namespace = authorsOf(server.history('namespaces/short').versions)
  assert.deepEqual(
    [namespace[0], namespace[1], namespace.at(-1)],
    [`create by ${server.user}`, `delete by ${server.user}`, 'delete by system:controller:namespace'],
  )
  assert.deepEqual(authorsOf(server.history('serviceaccounts/short/default').versions).slice(0, 1), [
    'create by system:controller:serviceaccount',
  ])
  assert.deepEqual(authorsOf(server.history('namespaces/default').versions), ['create by system:apiserver'])
})

test('a reset is part of the history, without an author, and works with a full disk', async () => {
  const maps = server.client.core.v1.configMaps('shop')
  await maps.create({ metadata: { name: 'old' }, data: { a: '1' } })
  await maps.patch('old', { data: { a: '2' } })
  const disk = server.faults.add({ disk: 'full' })
  await server.reset()
  disk.remove()
  assert.deepEqual(authorsOf(server.history('configmaps/shop/old').versions), [
    `create by ${server.user}`,
    `patch by ${server.user}`,
    'delete by undefined',
  ])
})

test('custom objects are found by resource and group, or by value', async () => {
  const crd = {
    metadata: { name: 'wares.shop.example.com' },
    spec: {
      group: 'shop.example.com',
      scope: 'Namespaced' as const,
      names: { plural: 'wares', kind: 'Ware' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  }
  await server.client.apiextensions.v1.customResourceDefinitions().create(crd)
  await server.idle()
  const wares = await server.client.find('wares', { namespace: 'shop' })
  const apple = await wares.create({ metadata: { name: 'apple' }, spec: { price: 1 } })
  const { versions, ref } = server.history('wares.shop.example.com/shop/apple')
  assert.deepEqual(linesOf(versions[0] as ObjectVersion), ['spec.price: undefined -> 1'])
  assert.equal(ref, server.history(apple).ref)
  assert.deepEqual(versions[0]?.object?.apiVersion, 'shop.example.com/v1')
  assert.throws(() => server.history('ware/shop/apple'), /did you mean wares\.shop\.example\.com\?/)
  assert.deepEqual(server.history('configmaps/shop/never').versions, [])
})

test('with encryption at rest and a data folder, values are readable, and older versions have no author', async () => {
  const dataDir = newFolder()
  const config = join(dataDir, 'encryption.yaml')
  const key = Buffer.alloc(32, 'k').toString('base64')
  writeFileSync(
    config,
    `apiVersion: apiserver.config.cluster.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - aescbc: {keys: [{name: one, secret: ${key}}]}
`,
  )
  const start = () => startServer({ dataDir, flags: [`--encryption-provider-config=${config}`] })
  try {
    const first = await start()
    await first.client.core.v1.secrets('default').create({ metadata: { name: 'pin' }, stringData: { pin: '1' } })
    await first.client.core.v1.secrets('default').create({ metadata: { name: 'unchanged' } })
    assert.match(first.history('secrets/default/pin').text(), /\+ data\.pin: "MQ=="/)
    await first.close({ immediately: true })
    const second = await start()
    await second.client.core.v1.secrets('default').patch('pin', { stringData: { pin: '2' } })
    const history = second.history('secrets/default/pin')
    assert.deepEqual(authorsOf(history.versions), ['create by undefined', `patch by ${second.user}`])
    assert.deepEqual(linesOf(history.versions[1] as ObjectVersion), ['data.pin: "MQ==" -> "Mg=="'])
    assert.equal(history.completeFrom, history.versions[0]?.resourceVersion)
    assert.throws(() => history.at(1), /complete only from resourceVersion \d+/)
    assert.deepEqual(authorsOf(second.history('secrets/default/unchanged').versions), ['create by undefined'])
    await second.close({ immediately: true })
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})
