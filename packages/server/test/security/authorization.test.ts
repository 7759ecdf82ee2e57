// RBAC in a whole server, and attempts to bypass it: paths, selectors, subresources, creating patches, impersonation.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ApiClient, type ApiResponse } from '../../../../test/kit/api-client.js'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, namesOf, newNamespace, until } from '../../../../test/kit/fixtures.js'
import { FlagFiles } from './make-pki.js'
import { apply, as, bindingOf, grant, json, merge, type RuleInput, rbac, roleOf } from './users.js'

const reviews = '/apis/authorization.cluster.io/v1'
const maps = (...verbs: string[]): RuleInput => ({ apiGroups: [''], resources: ['configmaps'], verbs })

describe('authorization', { concurrency: 4 }, () => {
  const files = new FlagFiles()
  let running: Embedded
  let bob: ApiClient
  let anonymous: ApiClient
  const client = (): ApiClient => running.client
  before(async () => {
    const tokens = files.write('tokens.csv', 'bob-token,bob,bob-uid,"devs"\n')
    running = await startEmbedded('lmdb', [`--token-auth-file=${tokens}`])
    const access = { url: running.server.url, ca: running.server.caPem }
    bob = new ApiClient({ ...access, token: 'bob-token' })
    anonymous = new ApiClient(access)
  })
  after(async () => {
    bob.close()
    anonymous.close()
    await running.close()
    files.remove()
  })

  test('defaults: health for everybody, discovery for authenticated users, the rest for system:masters', async () => {
    for (const path of ['/livez', '/readyz', '/healthz', '/version']) assert.equal((await anonymous.get(path)).status, 200, path)
    for (const path of ['/api', '/apis', '/openapi/v2', '/livez/ping', '/metrics', '/'])
      assert.equal((await anonymous.get(path)).status, 403, path)
    for (const path of ['/api', '/apis', '/apis/apps/v1', '/openapi/v2']) assert.equal((await bob.get(path)).status, 200, path)
    for (const path of ['/metrics', '/api/v1/namespaces', '/api/v1/secrets', '/logs/'])
      assert.equal((await bob.get(path)).status, 403, path)
    assert.equal((await client().get('/metrics')).status, 200)
    const refused = expectFailure(await bob.get('/api/v1/namespaces'), 403, 'Forbidden')
    assert.equal(
      refused.message,
      'namespaces is forbidden: User "bob" cannot list resource "namespaces" in API group "" at the cluster scope',
    )
  })

  test('a binding applies from the next request until it is deleted', async () => {
    const namespace = await newNamespace(client(), 'next')
    const rolesPath = `${rbac}/namespaces/${namespace}`
    expectStatus(await client().post(`${rolesPath}/roles`, roleOf('r', maps('list'))), 201)
    for (let round = 0; round < 20; round++) {
      assert.equal((await bob.get(configMaps(namespace))).status, 403)
      expectStatus(await client().post(`${rolesPath}/rolebindings`, bindingOf('b', 'Role', 'r', 'bob')), 201)
      assert.equal((await bob.get(configMaps(namespace))).status, 200)
      if (round % 2 === 0) expectStatus(await client().delete(`${rolesPath}/rolebindings/b`), 200)
      else {
        expectStatus(await client().put(`${rolesPath}/roles/r`, roleOf('r')), 200)
        assert.equal((await bob.get(configMaps(namespace))).status, 403)
        expectStatus(await client().put(`${rolesPath}/roles/r`, roleOf('r', maps('list'))), 200)
        expectStatus(await client().delete(`${rolesPath}/rolebindings/b`), 200)
      }
    }
    expectFailure(await bob.get(configMaps(namespace)), 403, 'Forbidden')
  })

  test('a started watch continues after its permission is revoked; the next one is rejected', async () => {
    const namespace = await newNamespace(client(), 'watch')
    await grant(client(), 'watcher', [maps('watch')], namespace)
    const watch = await client().watch(`${configMaps(namespace)}?watch=1`, { 'impersonate-user': 'watcher' })
    assert.equal(watch.status, 200)
    watch.close()
    expectStatus(await client().delete(`${rbac}/namespaces/${namespace}/rolebindings/watcher`), 200)
    expectFailure(await as(client(), 'watcher')('GET', `${configMaps(namespace)}?watch=1`), 403, 'Forbidden')
  })

  test('unusual paths bypass no rule', async () => {
    const namespace = await newNamespace(client(), 'tricks')
    const other = await newNamespace(client(), 'secret')
    expectStatus(await client().post(`/api/v1/namespaces/${other}/secrets`, { metadata: { name: 's' }, data: { k: 'dG9wc2VjcmV0' } }), 201)
    expectStatus(await client().post(configMaps(namespace), configMapOf('c')), 201)
    await grant(client(), 'tricky', [maps('*')], namespace)
    await grant(client(), 'tricky-paths', [{ nonResourceURLs: ['/logs/*', '/livez'], verbs: ['*'] }])
    const secrets = `/api/v1/namespaces/${other}/secrets/s`
    const ownNamespace = `/api/v1/namespaces/${namespace}`
    const paths = [
      secrets,
      `${ownNamespace}/../${other}/secrets/s`,
      `${ownNamespace}/configmaps/../../${other}/secrets/s`,
      `${ownNamespace}/%2e%2e/${other}/secrets/s`,
      `${ownNamespace}%2f..%2f${other}%2fsecrets%2fs`,
      `${ownNamespace}/configmaps/%2e%2e/%2e%2e/${other}/secrets/s`,
      `/${secrets}`,
      `/api//v1/namespaces/${other}/secrets/s`,
      `/api/v1//namespaces/${other}/secrets/s`,
      `/api/v1/namespaces//${other}/secrets/s`,
      `/api/v1/namespaces/${other}/secrets/s/`,
      `/api/v1/namespaces/${other}/secrets%2Fs`,
      `/api/v1/namespaces/${other}/secrets/%73`,
      `/API/V1/namespaces/${other}/secrets/s`,
      `/api/v1/namespaces/${other}/Secrets/s`,
      `/api/v1/namespaces/${other}/secrets;x=y/s`,
      `/api/v1/namespaces/${other};${namespace}/secrets/s`,
      `/api/v1/watch/namespaces/${other}/secrets/s`,
      `/api/v1/proxy/namespaces/${other}/secrets/s`,
      `/api/v1/secrets?fieldSelector=metadata.name%3Ds`,
      `/api/v1/namespaces/${namespace}/configmaps/c/../../../${other}/secrets/s`,
      `/livez/../api/v1/namespaces/${other}/secrets/s`,
      `/logs/../api/v1/namespaces/${other}/secrets/s`,
      `/logs/..%2fapi/v1/namespaces/${other}/secrets/s`,
      `/logs/../metrics`,
      `//metrics`,
      `/%6detrics`,
    ]
    for (const user of ['tricky', 'tricky-paths']) {
      for (const path of paths) {
        for (const method of ['GET', 'DELETE']) {
          const response = await as(client(), user)(method, path)
          assert.ok(response.status >= 400, `${user}: ${method} ${path} returned ${response.status}`)
          assert.ok(!response.text.includes('dG9wc2VjcmV0'), path)
        }
      }
    }
    expectStatus(await client().get(secrets), 200)
    expectStatus(await as(client(), 'tricky')('GET', `${ownNamespace}/configmaps/c`), 200)
  })

  test('impersonation grants nothing beyond the impersonated user', async () => {
    const namespace = await newNamespace(client(), 'acting')
    const path = `/api/v1/namespaces/${namespace}/secrets`
    for (const headers of [
      { 'impersonate-user': 'admin' },
      { 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' },
      { 'impersonate-user': 'system:serviceaccount:cluster-system:x' },
      { 'Impersonate-User': 'admin', 'impersonate-group': 'system:masters' },
    ])
      expectFailure(await bob.get(path, headers), 403, 'Forbidden')
    const users: RuleInput = { apiGroups: [''], resources: ['users'], verbs: ['impersonate'] }
    expectStatus(await client().post(`${rbac}/clusterroles`, roleOf('actor', users)), 201)
    expectStatus(await client().post(`${rbac}/clusterrolebindings`, bindingOf('actor', 'ClusterRole', 'actor', 'bob')), 201)
    const masters = expectFailure(await bob.get(path, { 'impersonate-user': 'x', 'impersonate-group': 'system:masters' }), 403, 'Forbidden')
    assert.equal(
      masters.message,
      'groups "system:masters" is forbidden: User "bob" cannot impersonate resource "groups" in API group "" at the cluster scope',
    )
    const zoe = expectFailure(await bob.get(path, { 'impersonate-user': 'zoe' }), 403, 'Forbidden')
    assert.match(zoe.message ?? '', /User "zoe" cannot list/)
    // An impersonated administrator has none of its groups, and a list in one header is one group.
    expectFailure(await bob.get(path, { 'impersonate-user': 'admin' }), 403, 'Forbidden')
    expectFailure(await bob.get(path, { 'impersonate-user': 'zoe', 'impersonate-group': 'a, system:masters' }), 403, 'Forbidden')
    expectFailure(await anonymous.get(path, { 'impersonate-user': 'admin' }), 403, 'Forbidden')
    for (const header of ['Impersonate_User', 'X-Impersonate-User'])
      expectFailure(await bob.get(path, { [header]: 'zoe' }), 403, 'Forbidden')
    expectStatus(await client().delete(`${rbac}/clusterrolebindings/actor`), 200)
  })

  test('apply and PUT do not create without create permission', async () => {
    const namespace = await newNamespace(client(), 'upsert')
    await grant(client(), 'patcher', [maps('get', 'patch')], namespace)
    await grant(client(), 'named-creator', [maps('patch'), { ...maps('create'), resourceNames: ['allowed'] }], namespace)
    const typed = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } })
    const patcher = as(client(), 'patcher')
    const refused = expectFailure(
      await patcher('PATCH', `${configMaps(namespace, 'new')}?fieldManager=m`, typed('new'), apply),
      403,
      'Forbidden',
    )
    assert.match(refused.message ?? '', /^configmaps "new" is forbidden: User "patcher" cannot create resource "configmaps"/)
    expectFailure(
      await patcher('PATCH', `${configMaps(namespace, 'new')}?fieldManager=m&dryRun=All`, typed('new'), apply),
      403,
      'Forbidden',
    )
    expectFailure(await client().get(configMaps(namespace, 'new')), 404, 'NotFound')
    expectStatus(await client().post(configMaps(namespace), configMapOf('old')), 201)
    expectStatus(await patcher('PATCH', `${configMaps(namespace, 'old')}?fieldManager=m`, typed('old'), apply), 200)
    expectFailure(await patcher('POST', configMaps(namespace), configMapOf('new')), 403, 'Forbidden')
    expectFailure(await patcher('PUT', configMaps(namespace, 'old'), configMapOf('old')), 403, 'Forbidden')
    const named = as(client(), 'named-creator')
    expectStatus(await named('PATCH', `${configMaps(namespace, 'allowed')}?fieldManager=m`, typed('allowed'), apply), 201)
    expectFailure(await named('PATCH', `${configMaps(namespace, 'other')}?fieldManager=m`, typed('other'), apply), 403, 'Forbidden')
    const leases = `/apis/coordination.cluster.io/v1/namespaces/${namespace}/leases`
    await grant(
      client(),
      'updater',
      [{ apiGroups: ['coordination.cluster.io'], resources: ['leases'], verbs: ['get', 'update'] }],
      namespace,
    )
    expectFailure(await as(client(), 'updater')('PUT', `${leases}/l`, { metadata: { name: 'l' } }), 403, 'Forbidden')
    const { json: created } = expectStatus(await client().put(`${leases}/l`, { metadata: { name: 'l' } }), 201)
    expectStatus(await as(client(), 'updater')('PUT', `${leases}/l`, created), 200)
  })

  test('permission on one name shows no other object, whatever the selector', async () => {
    const namespace = await newNamespace(client(), 'names')
    for (const name of ['one', 'two'])
      expectStatus(await client().post(configMaps(namespace), configMapOf(name, { labels: { name } })), 201)
    await grant(client(), 'named', [{ ...maps('get', 'list', 'watch', 'delete', 'deletecollection'), resourceNames: ['one'] }], namespace)
    const named = as(client(), 'named')
    const list = async (query: string): Promise<ApiResponse> => named('GET', `${configMaps(namespace)}${query}`)
    assert.deepEqual(namesOf(expectStatus(await list('?fieldSelector=metadata.name%3Done'), 200).json), ['one'])
    assert.deepEqual(namesOf(expectStatus(await list('?fieldSelector=metadata.name%3D%3Done&labelSelector=name%3Dtwo'), 200).json), [])
    assert.deepEqual(namesOf(expectStatus(await list('?fieldSelector=metadata.name%3Done,metadata.name%3Dtwo'), 200).json), [])
    assert.deepEqual(namesOf(expectStatus(await list('?fieldSelector=metadata.name%3Done&fieldSelector=metadata.name%3Dtwo'), 200).json), [
      'one',
    ])
    for (const query of [
      '',
      '?labelSelector=name%3Done',
      '?fieldSelector=metadata.name%3Dtwo',
      '?fieldSelector=metadata.name!%3Dtwo',
      '?fieldSelector=metadata.name%3Dtwo&fieldSelector=metadata.name%3Done',
      `?fieldSelector=metadata.namespace%3D${namespace}`,
      '?limit=1',
      '?watch=1',
      '?watch=1&fieldSelector=metadata.name%3Dtwo',
    ])
      expectFailure(await list(query), 403, 'Forbidden')
    expectFailure(await named('GET', configMaps(namespace, 'two')), 403, 'Forbidden')
    const watch = await client().watch(`${configMaps(namespace)}?watch=1&fieldSelector=metadata.name%3Done`, {
      'impersonate-user': 'named',
    })
    expectStatus(await client().patch(configMaps(namespace, 'two'), 'application/merge-patch+json', { data: { a: 'b' } }), 200)
    expectStatus(await client().patch(configMaps(namespace, 'one'), 'application/merge-patch+json', { data: { a: 'b' } }), 200)
    const seen = await until(
      async () => watch.events,
      (events) => events.some(({ type }) => type === 'MODIFIED'),
    )
    assert.deepEqual([...new Set(seen.map(({ object }) => object.metadata.name))], ['one'])
    watch.close()
    for (const query of ['', '?fieldSelector=metadata.name%3Done', '?labelSelector=name%3Done'])
      expectFailure(await named('DELETE', `${configMaps(namespace)}${query}`), 403, 'Forbidden')
    assert.deepEqual(
      namesOf((await client().get(configMaps(namespace))).json).filter((name) => name.length === 3),
      ['one', 'two'],
    )
    expectStatus(await named('DELETE', configMaps(namespace, 'one')), 200)
  })

  test('delete and deletecollection are separate, and permission in one namespace does not allow cluster-wide requests', async () => {
    const namespace = await newNamespace(client(), 'collection')
    await grant(client(), 'deleter', [maps('delete', 'list')], namespace)
    await grant(client(), 'sweeper', [maps('deletecollection')], namespace)
    expectStatus(await client().post(configMaps(namespace), configMapOf('a')), 201)
    expectFailure(await as(client(), 'deleter')('DELETE', configMaps(namespace)), 403, 'Forbidden')
    expectFailure(await as(client(), 'deleter')('GET', '/api/v1/configmaps'), 403, 'Forbidden')
    expectFailure(await as(client(), 'sweeper')('DELETE', configMaps(namespace, 'a')), 403, 'Forbidden')
    expectFailure(await as(client(), 'sweeper')('DELETE', '/api/v1/configmaps'), 403, 'Forbidden')
    expectStatus(await as(client(), 'sweeper')('DELETE', configMaps(namespace)), 200)
  })

  test('permission on an object excludes subresources; `*/scale` matches scale of every resource', async () => {
    const namespace = await newNamespace(client(), 'parts')
    const apps = `/apis/apps/v1/namespaces/${namespace}`
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const spec = { replicas: 1, selector: { matchLabels: { a: 'b' } }, template }
    expectStatus(await client().post(`${apps}/deployments`, { metadata: { name: 'd' }, spec }), 201)
    await grant(client(), 'scaler', [{ apiGroups: ['apps'], resources: ['*/scale'], verbs: ['get', 'patch', 'update'] }], namespace)
    await grant(client(), 'reader', [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'patch'] }], namespace)
    const scaler = as(client(), 'scaler')
    expectStatus(await scaler('GET', `${apps}/deployments/d/scale`), 200)
    expectStatus(await scaler('PATCH', `${apps}/deployments/d/scale`, { spec: { replicas: 2 } }, merge), 200)
    expectStatus(await scaler('PATCH', `${apps}/deployments/d/scale`, [{ op: 'replace', path: '/spec/replicas', value: 3 }], json), 200)
    for (const path of [`${apps}/deployments/d`, `${apps}/deployments/d/status`, `${apps}/deployments`])
      expectFailure(await scaler('GET', path), 403, 'Forbidden')
    const reader = as(client(), 'reader')
    expectStatus(await reader('GET', `${apps}/deployments/d`), 200)
    for (const part of ['scale', 'status']) {
      expectFailure(await reader('GET', `${apps}/deployments/d/${part}`), 403, 'Forbidden')
      expectFailure(await reader('PATCH', `${apps}/deployments/d/${part}`, {}, merge), 403, 'Forbidden')
    }
  })

  test('access reviews return the actual decisions', async () => {
    const namespace = await newNamespace(client(), 'reviews')
    await grant(client(), 'reviewed', [{ ...maps('get'), resourceNames: ['a'] }], namespace)
    const attributes = { namespace, verb: 'get', resource: 'configmaps', name: 'a' }
    const review = async (path: string, spec: object, reviewer = client()) =>
      expectStatus(await reviewer.post(`${reviews}/${path}`, { spec }), 201).json['status']
    assert.deepEqual(await review('subjectaccessreviews', { user: 'reviewed', resourceAttributes: attributes }), {
      allowed: true,
      reason: `RBAC: allowed by RoleBinding "reviewed/${namespace}" of Role "reviewed" to User "reviewed"`,
    })
    assert.deepEqual(await review('subjectaccessreviews', { user: 'reviewed', resourceAttributes: { ...attributes, name: 'b' } }), {
      allowed: false,
    })
    const local = { user: 'reviewed', resourceAttributes: attributes }
    assert.equal(((await review(`namespaces/${namespace}/localsubjectaccessreviews`, local)) as { allowed: boolean }).allowed, true)
    assert.deepEqual(await review('selfsubjectaccessreviews', { resourceAttributes: attributes }, bob), { allowed: false })
    const version = { nonResourceAttributes: { path: '/version', verb: 'get' } }
    assert.match(
      String(((await review('selfsubjectaccessreviews', version, bob)) as { reason: string }).reason),
      /ClusterRoleBinding "system:(discovery|public-info-viewer)"/,
    )
    expectFailure(await bob.post(`${reviews}/subjectaccessreviews`, { spec: local }), 403, 'Forbidden')
    const { json: response } = await as(client(), 'reviewed')('POST', `${reviews}/selfsubjectrulesreviews`, { spec: { namespace } })
    assert.deepEqual([response['metadata'], response['spec']], [{ creationTimestamp: null }, {}])
    const rules = response['status'] as {
      incomplete: boolean
      resourceRules: readonly { resources: readonly string[]; resourceNames?: readonly string[] }[]
      nonResourceRules: readonly object[]
    }
    assert.equal(rules.incomplete, false)
    assert.ok(rules.resourceRules.some(({ resources, resourceNames }) => resources[0] === 'configmaps' && resourceNames?.[0] === 'a'))
    assert.ok(rules.nonResourceRules.length > 0)
  })
})
