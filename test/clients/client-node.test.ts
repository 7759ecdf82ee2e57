// The client of npm's @kubernetes/client-node against the server: objects with types of their own, objects of any kind, watches.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { until } from '../kit/fixtures.js'
import { ServerProcess } from '../kit/server-process.js'
import type { Wire } from '../kit/wire.js'
import { deploymentOf } from './manifests.js'
import { type ClientNode, importClientNode, type KubeConfig, obtainClientNode } from './obtain-client-node.js'

const client = await obtainClientNode()

describe('@kubernetes/client-node', { skip: client.skip, concurrency: 4 }, () => {
  const namespace = 'default'
  let server: ServerProcess
  let library: ClientNode
  let configuration: KubeConfig
  before(async () => {
    library = await importClientNode(client.path)
    server = await ServerProcess.start({ flags: ['--identity=kubernetes'] })
    configuration = new library.KubeConfig()
    configuration.loadFromFile(join(server.dataDir, 'admin.conf'))
  })
  after(() => server.stop())

  test('version', async () => {
    const { gitVersion } = await configuration.makeApiClient(library.VersionApi).getCode()
    assert.match(gitVersion ?? '', /^v1\.26\./)
  })

  test('an object from its begin to its end', async () => {
    const api = configuration.makeApiClient(library.CoreV1Api)
    const made = await api.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'life' }, data: { a: '1' } } })
    assert.deepEqual(made.data, { a: '1' })
    await assert.rejects(api.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'life' } } }), failure(409, 'AlreadyExists'))
    const read = await api.readNamespacedConfigMap({ namespace, name: 'life' })
    assert.equal(read.metadata.uid, made.metadata.uid)
    const replaced = await api.replaceNamespacedConfigMap({ namespace, name: 'life', body: { ...read, data: { a: '2' } } })
    assert.deepEqual(replaced.data, { a: '2' })
    await assert.rejects(api.replaceNamespacedConfigMap({ namespace, name: 'life', body: read }), failure(409, 'Conflict'))
    await api.deleteNamespacedConfigMap({ namespace, name: 'life' })
    await assert.rejects(api.readNamespacedConfigMap({ namespace, name: 'life' }), failure(404, 'NotFound'))
  })

  test('patches of every type', async () => {
    const { JsonPatch, MergePatch, StrategicMergePatch } = library.PatchStrategy
    const as = (type: string) => library.setHeaderOptions('Content-Type', type)
    const api = configuration.makeApiClient(library.AppsV1Api)
    await api.createNamespacedDeployment({ namespace, body: deploymentOf('patched') })
    const target = { namespace, name: 'patched' }
    const image = { spec: { template: { spec: { containers: [{ name: 'web', image: 'registry.example/web:2' }] } } } }
    const strategic = await api.patchNamespacedDeployment({ ...target, body: image }, as(StrategicMergePatch))
    assert.match(JSON.stringify(strategic), /web:2.*8080/)
    const merged = await api.patchNamespacedDeployment({ ...target, body: { metadata: { labels: { a: 'b' } } } }, as(MergePatch))
    assert.deepEqual(merged.metadata.labels, { a: 'b', app: 'patched' })
    const operations = [{ op: 'replace', path: '/spec/replicas', value: 9 }]
    assert.match(JSON.stringify(await api.patchNamespacedDeployment({ ...target, body: operations }, as(JsonPatch))), /"replicas":9/)
    const scale = await api.readNamespacedDeploymentScale(target)
    assert.equal(JSON.stringify(scale['spec']), '{"replicas":9}')
    const scaled = await api.replaceNamespacedDeploymentScale({ ...target, body: { ...scale, spec: { replicas: 3 } } })
    assert.equal(JSON.stringify(scaled['spec']), '{"replicas":3}')
  })

  test('apply on the server', async () => {
    const api = configuration.makeApiClient(library.CoreV1Api)
    const apply = (fieldManager: string, data: Readonly<Record<string, string>>, force = false) =>
      api.patchNamespacedConfigMap(
        {
          namespace,
          name: 'applied',
          fieldManager,
          force,
          body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data },
        },
        library.setHeaderOptions('Content-Type', library.PatchStrategy.ServerSideApply),
      )
    await apply('alice', { a: '1', b: '1' })
    await assert.rejects(apply('bob', { a: '2' }), failure(409, 'Conflict'))
    assert.deepEqual((await apply('bob', { a: '2' }, true)).data, { a: '2', b: '1' })
    assert.deepEqual((await apply('alice', {})).data, { a: '2' })
  })

  test('lists in pages, and a collection deleted', async () => {
    const api = configuration.makeApiClient(library.CoreV1Api)
    const names = Array.from({ length: 7 }, (_, index) => `page-${index}`)
    await Promise.all(
      names.map((name) => api.createNamespacedConfigMap({ namespace, body: { metadata: { name, labels: { page: 'yes' } } } })),
    )
    const listing = { namespace, labelSelector: 'page=yes', limit: 3 }
    const first = await api.listNamespacedConfigMap(listing)
    const second = await api.listNamespacedConfigMap({ ...listing, _continue: continuation(first) })
    const third = await api.listNamespacedConfigMap({ ...listing, _continue: continuation(second) })
    assert.deepEqual(
      [first, second, third].flatMap(({ items }) => items.map(({ metadata }) => metadata.name)),
      names,
    )
    await api.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: 'page=yes' })
    assert.deepEqual((await api.listNamespacedConfigMap({ namespace, labelSelector: 'page=yes' })).items, [])
  })

  test('objects of any kind, found by discovery', async () => {
    const api = library.KubernetesObjectApi.makeApiClient(configuration)
    const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'any', namespace } }
    await api.create({ ...deploymentOf('any'), metadata: object.metadata })
    await api.patch({ ...object, spec: { replicas: 4 } })
    const read = await api.read(object)
    assert.equal((read['spec'] as { replicas: number }).replicas, 4)
    await api.replace({ ...read, metadata: { ...read.metadata, labels: { replaced: 'yes' } } })
    const list = await api.list('apps/v1', 'Deployment', namespace)
    assert.deepEqual(list.items.find(({ metadata }) => metadata.name === 'any')?.metadata.labels, { replaced: 'yes' })
    await api.delete(object)
    await assert.rejects(api.read(object), failure(404, 'NotFound'))
  })

  test('watch', async () => {
    const api = configuration.makeApiClient(library.CoreV1Api)
    const { metadata } = await api.listNamespacedConfigMap({ namespace })
    const seen: string[] = []
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const query = { labelSelector: 'watched', resourceVersion: metadata.resourceVersion, allowWatchBookmarks: true }
    const watching = await new library.Watch(configuration).watch(
      path,
      query,
      (type, object) => seen.push(`${type} ${object.metadata.name}`),
      () => undefined,
    )
    const target = { namespace, name: 'seen' }
    await api.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'seen', labels: { watched: 'yes' } } } })
    const merge = library.setHeaderOptions('Content-Type', library.PatchStrategy.MergePatch)
    await api.patchNamespacedConfigMap({ ...target, body: { data: { a: '1' } } }, merge)
    await api.deleteNamespacedConfigMap(target)
    await until(
      () => Promise.resolve(seen.filter((text) => !text.startsWith('BOOKMARK'))),
      (texts) => texts.join() === 'ADDED seen,MODIFIED seen,DELETED seen',
    )
    watching.abort()
  })
})

/** For `assert.rejects`: the library's error of that code, with a Status of that reason. */
const failure = (code: number, reason: string) => (error: unknown) => {
  const { code: actual, body } = error as { readonly code?: number; readonly body?: unknown }
  assert.equal(actual, code)
  const status = (typeof body === 'string' ? JSON.parse(body) : body) as Wire
  assert.equal(status.reason, reason)
  return true
}

/** The library spells this field with an underscore, because its own language reserves the word. */
const continuation = ({ metadata }: Wire): string => (metadata as { readonly _continue?: string })._continue ?? metadata.continue ?? ''
