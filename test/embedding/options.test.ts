// Options of startServer: initial objects, users, logger, and rejected options.

import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ServerOptions, startServer } from 'cluster-apiserver'
import { ApiClient } from '../kit/api-client.js'
import { clientOf } from '../kit/embedded.js'
import { expectFailure, expectStatus, namesOf, wareCrd } from '../kit/fixtures.js'
import { newFolder } from '../kit/server-process.js'

const expectRejection = (options: unknown, message: RegExp): Promise<void> => assert.rejects(startServer(options as ServerOptions), message)

test('unknown options and wrong types are rejected, with a suggestion', async () => {
  await expectRejection({ datadir: '/tmp/x' }, /^TypeError: startServer: unknown option "datadir"; did you mean "dataDir"\?$/)
  await expectRejection({ verbose: true }, /unknown option "verbose"; use one of: dataDir, etcd, port/)
  await expectRejection({ port: '80' }, /the option "port" must be a port/)
  await expectRejection({ identity: 'other' }, /"identity" must be "cluster" or "kubernetes"/)
  await expectRejection({ etcd: { server: 'x' } }, /etcd: unknown option "server"/)
  await expectRejection({ etcd: {} }, /"etcd.servers" must be a list/)
  await expectRejection({ logger: {} }, /"logger" must be/)
  await expectRejection('memory', /the options must be an object/)
  const server = await startServer()
  await assert.rejects(
    server.close({ immediatly: true } as object),
    /^TypeError: close: unknown option "immediatly"; use one of: immediately$/,
  )
  await server.close({ immediately: true })
})

const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
const crd = wareCrd({ type: 'object', properties: { price: { type: 'integer' } } }, { subresources: {} })

test('initial objects from values, files and folders, in any order', async () => {
  const folder = newFolder()
  mkdirSync(join(folder, 'more', 'deep'), { recursive: true })
  writeFileSync(
    join(folder, 'ware.yaml'),
    'apiVersion: shop.example.com/v1\nkind: Ware\nmetadata: {name: apple, namespace: shop}\nprice: 3\n',
  )
  const map = (name: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: shop\ndata:\n  text: |\n    ---\n`
  writeFileSync(join(folder, 'more', 'two.yml'), `# two of them\n---\n${map('one')}---\n# nothing\n---\n${map('two')}`)
  const list = { apiVersion: 'v1', kind: 'List', items: [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key', uid: 'old' } }] }
  writeFileSync(join(folder, 'more', 'deep', 'list.json'), JSON.stringify(list))
  writeFileSync(join(folder, 'more', 'README.md'), 'not an object')
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, status: { capacity: { cpu: '4' } } }
  const server = await startServer({ objects: [join(folder, 'ware.yaml'), join(folder, 'more'), crd, node, shop] })
  const client = clientOf(server)
  try {
    assert.equal(expectStatus(await client.get('/apis/shop.example.com/v1/namespaces/shop/wares/apple'), 200).json['price'], 3)
    assert.deepEqual(namesOf((await client.get('/api/v1/namespaces/shop/configmaps')).json), ['one', 'two'])
    expectStatus(await client.get('/api/v1/namespaces/default/secrets/key'), 200)
    const { json } = expectStatus(await client.get('/api/v1/nodes/n1'), 200)
    assert.deepEqual((json['status'] as { capacity: unknown }).capacity, { cpu: '4' })
  } finally {
    client.close()
    await server.close()
    rmSync(folder, { recursive: true })
  }
})

test('invalid initial objects are rejected with their source', async () => {
  const folder = newFolder()
  const file = join(folder, 'bad.yaml')
  writeFileSync(file, `${JSON.stringify(shop)}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndat: {}\n`)
  await expectRejection({ objects: [file] }, new RegExp(`objects: ${file}:2: .*\\.dat: field not declared`))
  writeFileSync(file, 'a: [1\n')
  await expectRejection({ objects: [file] }, new RegExp(`objects: ${file}: yaml: `))
  await expectRejection({ objects: [join(folder, 'none')] }, /objects: cannot read .*none: ENOENT/)
  mkdirSync(join(folder, 'empty'))
  await expectRejection({ objects: [join(folder, 'empty')] }, /has no file that ends in/)
  await expectRejection({ objects: [{ kind: 'Pod' }] }, /objects\[0\]: it has no apiVersion/)
  await expectRejection({ objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: {} }] }, /objects\[0\]: it has no metadata.name/)
  await expectRejection({ objects: [{ apiVersion: 'v2', kind: 'Pod', metadata: { name: 'a' } }] }, /unknown kind "Pod" in version "v2"/)
  await expectRejection(
    { objects: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'none' } }] },
    /objects\[0\]: .*"none"/,
  )
  rmSync(folder, { recursive: true })
})

const readerBinding = {
  apiVersion: 'rbac.authorization.cluster.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'devs-read' },
  roleRef: { apiGroup: 'rbac.authorization.cluster.io', kind: 'ClusterRole', name: 'view' },
  subjects: [{ apiGroup: 'rbac.authorization.cluster.io', kind: 'Group', name: 'dev' }],
}

test('clients for any user, without files', async () => {
  const server = await startServer({ objects: [readerBinding] })
  const clientOf = ({ token }: { readonly token: string }): ApiClient => new ApiClient({ url: server.url, ca: server.caPem, token })
  const clients = [server, server.as('alice', ['dev']), server.as('bob'), server.as('root', ['system:masters'])].map(clientOf)
  const [admin, alice, bob, root] = clients as [ApiClient, ApiClient, ApiClient, ApiClient]
  try {
    assert.equal(server.as('alice', ['dev']), server.as('alice', ['dev']), 'one token for each')
    assert.notEqual(server.as('alice').token, server.as('alice', ['dev']).token)
    assert.match(server.as('alice').clientConfiguration, /name: "alice"/)
    expectStatus(await admin.get('/api/v1/nodes'), 200)
    expectStatus(await root.get('/api/v1/nodes'), 200)
    expectStatus(await alice.get('/api/v1/configmaps'), 200)
    expectFailure(await alice.post('/api/v1/namespaces', shop), 403, 'Forbidden')
    const { message } = expectFailure(await bob.get('/api/v1/configmaps'), 403, 'Forbidden')
    assert.match(message ?? '', /User "bob" cannot list/)
    assert.throws(() => server.as(''), TypeError)
    assert.equal(server.client, server.client)
    assert.equal((await server.client.core.v1.configMaps('default').list()).items.length, 0)
    await assert.rejects(server.as('bob').client.core.v1.configMaps('default').list(), { reason: 'Forbidden' })
  } finally {
    for (const client of clients) client.close()
    await server.close()
  }
})

test('the logger option', async () => {
  const lines: string[] = []
  const record = (_fields: unknown, message: string): void => void lines.push(message)
  const server = await startServer({ logger: { debug: record, info: record, warn: record, error: record }, flags: ['--v=6'] })
  const client = clientOf(server)
  await client.get('/api/v1/namespaces')
  client.close()
  await server.close()
  assert.deepEqual(lines, ['request'])
  await (await startServer({ logger: console })).close()
})
