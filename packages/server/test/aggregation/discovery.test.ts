// APIServices: local ones, those of CRDs, availability conditions, and discovery.

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { startEmbedded } from '../../../../test/kit/embedded.js'
import { expectStatus, until, untilStatus } from '../../../../test/kit/fixtures.js'
import { newFolder } from '../../../../test/kit/server-process.js'
import { apiServices, conditionOf, ExtensionServer, register, waitFor } from './extension-server.js'

const label = 'cluster-aggregator.cluster.io/automanaged'

const crdOf = (plural: string, group: string, versions: readonly string[]): object => ({
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural, kind: 'Box' },
    versions: versions.map((name, i) => ({
      name,
      served: true,
      storage: i === 0,
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    })),
  },
})

const crdPath = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'

async function groupsOf(client: ApiClient): Promise<readonly string[]> {
  const { groups } = (await client.get('/apis')).json as unknown as { groups: readonly { name: string }[] }
  return groups.map(({ name }) => name)
}

const untilStatusOf = (client: ApiClient, path: string, status = 200): Promise<unknown> => untilStatus(() => client.get(path), status)

describe('API services', () => {
  test('local APIServices are created at start; changes of an administrator last until the next start', async () => {
    const dataDir = newFolder()
    const first = await startEmbedded('lmdb', [], dataDir)
    let { client } = first
    const apps = `${apiServices()}/v1.apps`
    const { json } = expectStatus(await client.get(apps), 200)
    assert.equal(json.metadata.labels?.[label], 'onstart')
    assert.deepEqual(await groupsOf(client).then((names) => names.slice(0, 2)), ['apiregistration.cluster.io', 'apps'])
    expectStatus(await client.delete(apps), 200)
    assert.ok(!(await groupsOf(client)).includes('apps'))
    expectStatus(await client.get('/apis/apps/v1/deployments'), 200)
    await client.patch(`${apiServices()}/v1.batch`, 'application/merge-patch+json', { spec: { groupPriorityMinimum: 19000 } })
    assert.equal((await groupsOf(client))[1], 'batch')
    // Without the auto-register label the server does not reset a local APIService: its priority stays after a restart.
    const remoteSpec = { groupPriorityMinimum: 18500, versionPriority: 1, group: 'policy', version: 'v1' }
    const adopt = { metadata: { labels: { [label]: null } }, spec: remoteSpec }
    expectStatus(await client.patch(`${apiServices()}/v1.policy`, 'application/merge-patch+json', adopt), 200)
    await first.close()
    const second = await startEmbedded('lmdb', [], dataDir)
    client = second.client
    assert.deepEqual((await groupsOf(client)).slice(1, 3), ['policy', 'apps'])
    await second.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  test('APIServices of CRDs are created, restored and deleted with them', async () => {
    const dataDir = newFolder()
    let { client, close } = await startEmbedded('lmdb', [], dataDir)
    expectStatus(await client.post(crdPath, crdOf('boxes', 'shop.example', ['v1', 'v1beta1'])), 201)
    const path = `${apiServices()}/v1.shop.example`
    await untilStatusOf(client, path)
    const { json } = await client.get(path)
    assert.equal(json.metadata.labels?.[label], 'true')
    assert.deepEqual(json['spec'], { group: 'shop.example', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 })
    assert.equal((await conditionOf(client, path))?.reason, 'Local')
    await untilStatusOf(client, `${apiServices()}/v1beta1.shop.example`)
    // Changes and deletes are reverted.
    await client.patch(path, 'application/merge-patch+json', { spec: { versionPriority: 3 } })
    await until(
      () => client.get(path),
      ({ text }) => text.includes('"versionPriority":100'),
    )
    await client.delete(path)
    await untilStatusOf(client, path)
    const withoutBeta = [{ op: 'replace', path: '/spec/versions/1/served', value: false }]
    expectStatus(await client.patch(`${crdPath}/boxes.shop.example`, 'application/json-patch+json', withoutBeta), 200)
    await untilStatusOf(client, `${apiServices()}/v1beta1.shop.example`, 404)
    // The APIService of the CRD stays after a restart.
    await close()
    ;({ client, close } = await startEmbedded('lmdb', [], dataDir))
    const { json: again } = expectStatus(await client.get(path), 200)
    assert.equal(again.metadata.labels?.[label], 'true')
    assert.ok((await groupsOf(client)).includes('shop.example'))
    expectStatus(await client.delete(`${crdPath}/boxes.shop.example`), 200)
    await untilStatusOf(client, path, 404)
    await until(
      () => groupsOf(client),
      (names) => !names.includes('shop.example'),
    )
    await close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  test('the Available condition reports each missing part of the service', async () => {
    const { client, close } = await startEmbedded('memory')
    const extension = await ExtensionServer.start('steps.example')
    const changes = { service: { namespace: 'default', name: 'steps' } }
    const path = await register(client, { server: extension, changes, expected: 'ServiceNotFound' })
    const messageOf = async (reason: string): Promise<string | undefined> => (await waitFor(client, path, reason))?.message
    assert.equal(await messageOf('ServiceNotFound'), 'service/steps in "default" is not present')
    assert.equal((await client.get('/apis/steps.example/v1')).text, 'service unavailable\n')
    const services = '/api/v1/namespaces/default/services'
    expectStatus(await client.post(services, { metadata: { name: 'steps' }, spec: { ports: [{ name: 'tls', port: 8443 }] } }), 201)
    assert.equal(await messageOf('ServicePortError'), 'service/steps in "default" is not listening on port 443')
    await client.patch(path, 'application/merge-patch+json', { spec: { service: { port: 8443 } } })
    assert.equal(await messageOf('EndpointsNotFound'), 'cannot find endpoints for service/steps in "default"')
    const endpoints = '/api/v1/namespaces/default/endpoints'
    const subsets = [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'other', port: 1 }] }]
    expectStatus(await client.post(endpoints, { metadata: { name: 'steps' }, subsets }), 201)
    assert.equal(await messageOf('MissingEndpoints'), 'endpoints for service/steps in "default" have no addresses with port name "tls"')
    extension.close()
    await close()
  })

  test('discovery orders groups and versions by priority', async () => {
    const { client, close } = await startEmbedded('memory')
    const extension = await ExtensionServer.start('gadgets.example')
    const path = await register(client, { server: extension, changes: { groupPriorityMinimum: 17790 } })
    const names = await groupsOf(client)
    assert.deepEqual(names.slice(1, 4), ['apps', 'gadgets.example', 'events.cluster.io'])
    const { json } = expectStatus(await client.get('/apis/gadgets.example'), 200)
    const version = { groupVersion: 'gadgets.example/v1', version: 'v1' }
    const group = { kind: 'APIGroup', apiVersion: 'v1', name: 'gadgets.example', versions: [version], preferredVersion: version }
    assert.deepEqual(json, group)
    assert.equal(expectStatus(await client.get('/apis/gadgets.example/v1'), 200).json['groupVersion'], 'gadgets.example/v1')
    const { paths } = (await client.get('/')).json as unknown as { paths: readonly string[] }
    assert.ok(paths.includes('/apis/gadgets.example/v1'))
    // An APIService without `service` is local: discovery lists its version, but this server has no such kinds.
    const v2Spec = { group: 'gadgets.example', version: 'v2', groupPriorityMinimum: 10, versionPriority: 20 }
    expectStatus(await client.post(apiServices(), { metadata: { name: 'v2.gadgets.example' }, spec: v2Spec }), 201)
    const both = (await client.get('/apis/gadgets.example')).json as unknown as { versions: readonly { version: string }[] }
    assert.deepEqual(
      both.versions.map((each) => each.version),
      ['v2', 'v1'],
    )
    expectStatus(await client.get('/apis/gadgets.example/v2'), 404)
    await client.delete(path)
    extension.close()
    await close()
  })
})
