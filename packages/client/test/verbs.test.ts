// Client against a server: all verbs, typed and dynamic.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import {
  type CustomResourceDefinition,
  connect,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  outcomeOf,
  StatusError,
  type TypedClient,
  type Warning,
} from 'cluster-apiserver/client'
import { type Embedded, startEmbedded } from '../../../test/kit/embedded.js'

describe('client', () => {
  let embedded: Embedded
  let client: TypedClient
  const warnings: Warning[] = []
  before(async () => {
    embedded = await startEmbedded('memory', ['--runtime-config=api/alpha=true', '--feature-gates=APISelfSubjectReview=true'])
    client = connect({ text: embedded.server.clientConfiguration, onWarning: (warning) => warnings.push(warning) })
  })
  after(async () => {
    client.close()
    await embedded.close()
  })

  test('create, get, update and delete an object', async () => {
    const maps = client.core.v1.configMaps('default')
    const created = await maps.create({ metadata: { name: 'life' }, data: { a: '1' } })
    assert.deepEqual([created.kind, created.apiVersion, created.data], ['ConfigMap', 'v1', { a: '1' }])
    await assert.rejects(maps.create({ metadata: { name: 'life' } }), isAlreadyExists)
    const read = await maps.get('life')
    assert.deepEqual(read, created)
    const updated = await maps.update({ ...read, data: { a: '2' } })
    assert.deepEqual(updated.data, { a: '2' })
    await assert.rejects(maps.update(read), isConflict)
    await maps.delete('life')
    await assert.rejects(maps.get('life'), isNotFound)
    assert.equal(await maps.find('life'), undefined)
    assert.deepEqual(
      [await outcomeOf(maps.get('life'))].map((outcome) => (outcome.ok ? 'there' : outcome.error.kind)),
      ['status'],
    )
  })

  test('modify retries on conflict', async () => {
    const maps = client.core.v1.configMaps('default')
    await maps.create({ metadata: { name: 'counter' }, data: { n: '0' } })
    const increment = () =>
      maps.modify('counter', (map) => ({ ...map, data: { n: String(Number(map.data?.['n']) + 1) } }), { conflicts: 100 })
    await Promise.all(Array.from({ length: 10 }, increment))
    assert.equal((await maps.get('counter')).data?.['n'], '10')
    const same = await maps.get('counter')
    assert.equal((await maps.modify('counter', (map) => map)).metadata?.resourceVersion, same.metadata?.resourceVersion)
    // In-place changes, which the types forbid, are sent.
    await maps.modify('counter', (map) => {
      Object.assign(map, { data: { n: '99' } })
      return map
    })
    assert.equal((await maps.get('counter')).data?.['n'], '99')
  })

  test('names that would change the path are rejected', async () => {
    const { v1 } = client.core
    const maps = v1.configMaps('default')
    for (const name of ['', '.', '..', 'a/b', '../secrets/a', 'a%2fstatus']) {
      await assert.rejects(maps.get(name), /is not a valid name of an object/)
      await assert.rejects(maps.delete(name), /is not a valid name of an object/)
      if (name !== '') await assert.rejects(v1.configMaps(name).get('a'), /is not a valid name of a namespace/)
    }
    await assert.rejects(maps.apply({ metadata: { name: 'a' } }, {} as { fieldManager: string }), /fieldManager/)
  })

  test('strategic, merge and JSON patch; scale and status', async () => {
    const deployments = client.apps.v1.deployments('default')
    await deployments.create({
      metadata: { name: 'web', labels: { app: 'web' } },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
      },
    })
    const strategic = { spec: { template: { spec: { containers: [{ name: 'side', image: 'side:1' }] } } } }
    const patched = await deployments.patch('web', strategic, { type: 'strategic' })
    assert.deepEqual(patched.spec?.template?.spec?.containers?.map(({ name }) => name).toSorted(), ['side', 'web'])
    assert.deepEqual((await deployments.patch('web', { metadata: { labels: { a: 'b' } } })).metadata?.labels, { app: 'web', a: 'b' })
    const operations = [{ op: 'replace', path: '/spec/replicas', value: 9 }]
    assert.equal((await deployments.patch('web', operations, { type: 'json' })).spec?.replicas, 9)
    assert.equal((await deployments.scale.get('web')).spec?.replicas, 9)
    const scaled = await deployments.scale.patch('web', { spec: { replicas: 3 } })
    assert.deepEqual([scaled.kind, scaled.spec?.replicas], ['Scale', 3])
    const status = await deployments.status.patch('web', { status: { replicas: 3 } })
    assert.equal(status.status?.replicas, 3)
  })

  test('apply reports conflicts by field; force takes over', async () => {
    const maps = client.core.v1.configMaps('default')
    await maps.apply({ metadata: { name: 'applied' }, data: { a: '1', b: '1' } }, { fieldManager: 'alice' })
    const other = { metadata: { name: 'applied' }, data: { a: '2' } }
    await assert.rejects(maps.apply(other, { fieldManager: 'bob' }), (error) => {
      assert.ok(error instanceof StatusError && isConflict(error))
      assert.deepEqual(
        error.causes.map(({ field }) => field),
        ['.data.a'],
      )
      return true
    })
    assert.deepEqual((await maps.apply(other, { fieldManager: 'bob', force: true })).data, { a: '2', b: '1' })
  })

  test('pages, tables, metadata, and deleteCollection', async () => {
    const maps = client.core.v1.configMaps('default')
    const names = Array.from({ length: 7 }, (_, index) => `page-${index}`)
    await Promise.all(names.map((name) => maps.create({ metadata: { name, labels: { page: 'yes' } }, data: { a: 'b' } })))
    const selection = { labelSelector: { page: 'yes' } }
    const seen: (string | undefined)[] = []
    let pages = 0
    for await (const { items } of maps.pages({ ...selection, limit: 3 })) {
      pages++
      seen.push(...items.map(({ metadata }) => metadata?.name))
    }
    assert.deepEqual([pages, seen], [3, names])
    const listed: string[] = []
    for await (const { kind, metadata } of maps.items({ ...selection, limit: 2 })) listed.push(`${kind} ${metadata?.name}`)
    assert.deepEqual(
      listed,
      names.map((name) => `ConfigMap ${name}`),
    )
    assert.equal((await maps.list({ fieldSelector: { 'metadata.name': 'page-3' } })).items.length, 1)
    const table = await maps.table(selection)
    assert.deepEqual(
      table.columnDefinitions?.map(({ name }) => name),
      ['Name', 'Data', 'Age'],
    )
    assert.equal(table.rows?.length, 7)
    assert.equal((await maps.tableOf('page-1')).rows?.[0]?.cells?.[0], 'page-1')
    const metadataOnly = await maps.metadata.get('page-1')
    assert.deepEqual([metadataOnly.kind, 'data' in metadataOnly], ['PartialObjectMetadata', false])
    assert.equal((await maps.metadata.list(selection)).items.length, 7)
    const informer = maps.metadata.inform(selection)
    await informer.ready
    await maps.patch('page-1', { metadata: { annotations: { seen: 'yes' } } })
    await informer.until((store) => store.get('page-1', 'default')?.metadata?.annotations?.['seen'] === 'yes', AbortSignal.timeout(60_000))
    informer.close()
    await maps.deleteCollection(selection)
    assert.deepEqual((await maps.list(selection)).items, [])
  })

  test('dryRun, fieldValidation, warnings', async () => {
    const maps = client.core.v1.configMaps('default')
    await maps.create({ metadata: { name: 'dry' } }, { dryRun: true })
    assert.equal(await maps.find('dry'), undefined)
    const withUnknownField = { metadata: { name: 'odd' }, surplus: 1 }
    await assert.rejects(maps.create(withUnknownField, { fieldValidation: 'Strict' }), /unknown field "surplus"/)
    warnings.length = 0
    await maps.create(withUnknownField, { fieldValidation: 'Warn', dryRun: true })
    assert.deepEqual(
      warnings.map(({ code, text }) => [code, text]),
      [[299, 'unknown field "surplus"']],
    )
    await assert.rejects(
      maps.create({ metadata: { name: 'NO' } }),
      (error) => isInvalid(error) && error.causes[0]?.field === 'metadata.name',
    )
  })

  test('delete with preconditions', async () => {
    const maps = client.core.v1.configMaps('default')
    const created = await maps.create({ metadata: { name: 'guarded' } })
    await assert.rejects(
      maps.delete('guarded', { preconditions: { uid: 'another' } }),
      (error) => error instanceof StatusError && error.code === 409,
    )
    await maps.delete('guarded', { dryRun: true })
    assert.ok(await maps.find('guarded'))
    await maps.delete('guarded', { preconditions: { uid: created.metadata?.uid ?? '' }, propagationPolicy: 'Background' })
    assert.equal(await maps.find('guarded'), undefined)
  })

  test('impersonation', async () => {
    const alice = client.as({ user: 'alice', groups: ['dev'] })
    await assert.rejects(alice.core.v1.secrets('default').list(), isForbidden)
    const admin = client.as({ user: 'alice', groups: ['dev', 'system:masters'], extra: { 'example.com/Scope': ['a'] } })
    const review = await admin.authentication.v1alpha1.selfSubjectReviews().create({})
    const { userInfo } = review.status ?? {}
    assert.deepEqual([userInfo?.username, userInfo?.groups?.includes('dev')], ['alice', true])
    // With an empty header the caller would keep its own permissions.
    for (const invalid of [
      { user: '' },
      { user: ' ' },
      { user: ' alice' },
      { user: 'alice', groups: [''] },
      { user: 'alice', groups: ['dev '] },
    ])
      assert.throws(() => client.as(invalid), TypeError, JSON.stringify(invalid))
    assert.ok(await client.as(undefined).core.v1.namespaces().get('default'))
    const other = client.as({ user: 'Łukasz Größe' })
    await assert.rejects(other.core.v1.configMaps('default').list(), /User "Łukasz Größe" cannot list/)
    await assert.rejects(other.core.v1.configMaps('default').create({ metadata: { name: 'ä' } }), /User "Łukasz Größe" cannot create/)
    assert.deepEqual(userInfo?.extra, { 'example.com/scope': ['a'] })
  })

  test('groups with the suffix of the identity, reviews, tokens', async () => {
    const role = await client.rbacAuthorization.v1.clusterRoles().get('view')
    assert.match(role.apiVersion ?? '', /^rbac\.authorization\./)
    const review = await client.authorization.v1
      .selfSubjectAccessReviews()
      .create({ spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } })
    assert.equal(review.status?.allowed, true)
    const accounts = client.core.v1.serviceAccounts('default')
    await accounts.create({ metadata: { name: 'robot' } })
    const token = await accounts.createToken('robot', { expirationSeconds: 3600 })
    const robot = connect({ text: embedded.server.clientConfiguration, userEntry: { token: token.status?.token ?? '' } })
    await assert.rejects(robot.core.v1.pods('default').list(), isForbidden)
    robot.close()
  })

  test('discovery finds resources by name, and CRDs that were created later', async () => {
    assert.equal((await client.served.find('deploy'))?.kind, 'Deployment')
    assert.equal((await client.served.find('deployments.apps'))?.group, 'apps')
    assert.equal((await client.served.find('horizontalpodautoscalers.v1.autoscaling'))?.version, 'v1')
    assert.equal(await client.served.find('nothing'), undefined)
    await assert.rejects(client.find('nothing'), /doesn't have a resource type "nothing"/)
    await client.apiextensions.v1.customResourceDefinitions().create({
      metadata: { name: 'toys.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'toys', singular: 'toy', kind: 'Toy', listKind: 'ToyList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    })
    const definitions = client.apiextensions.v1
      .customResourceDefinitions()
      .inform({ fieldSelector: { 'metadata.name': 'toys.example.com' } })
    const isEstablished = ({ status }: CustomResourceDefinition): boolean =>
      status?.conditions?.some(({ type, status: value }) => type === 'Established' && value === 'True') ?? false
    await definitions.until((store) => store.list().some(isEstablished))
    definitions.close()
    const toy = { apiVersion: 'example.com/v1', kind: 'Toy', metadata: { name: 'bear' }, size: 3 }
    const toys = await client.collectionOf(toy)
    assert.equal(toys.namespace, 'default')
    assert.equal((await toys.create(toy)).size, 3)
    // Templates produce an empty namespace.
    assert.equal((await client.collectionOf({ ...toy, metadata: { name: 'bear', namespace: '' } })).namespace, 'default')
    const doll = { ...toy, metadata: { name: 'doll', namespace: 'default' } }
    assert.equal((await toys.in('').create(doll, { dryRun: true })).metadata.name, 'doll')
    const dynamic = await client.find('toys', { namespace: 'default' })
    assert.equal((await dynamic.get('bear'))['size'], 3)
  })

  test('signal and timeoutMs', async () => {
    const maps = client.core.v1.configMaps('default')
    await assert.rejects(maps.list({ signal: AbortSignal.abort(new Error('enough')) }), /enough/)
    const controller = new AbortController()
    const waiting = (async () => {
      for await (const _ of maps.watch({ signal: controller.signal, since: await maps.list() })) assert.fail('nothing happens here')
    })()
    setTimeout(() => controller.abort(), 50)
    await waiting
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const waitingClient = connect({ text: '', clusterEntry: { server: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` } })
    const list = waitingClient.core.v1.configMaps('default').list({ timeoutMs: 1 })
    await assert.rejects(list, (error) => (error as { kind?: string }).kind === 'timeout')
    waitingClient.close()
    silent.close()
  })

  test('missing namespace and invalid names are rejected before sending', async () => {
    await assert.rejects(client.core.v1.configMaps().get('a'), /configmaps are namespaced/)
    await assert.rejects(client.core.v1.configMaps('default').get('..'), /is not a valid name of an object/)
    await assert.rejects(client.core.v1.configMaps('default').update({}), /no metadata.name/)
  })
})
