// Who may do what, and that no detour leads around a rule: paths, selectors, subresources, patches that create, headers that name somebody else.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Answer, ApiClient } from '../kit/api-client.js'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, namesOf, newNamespace, until } from '../kit/fixtures.js'
import { apply, as, bindingOf, grant, json, merge, type RuleInput, rbac, rbacGroup, roleOf } from './acting.js'
import { FlagFiles } from './make-pki.js'

const reviews = '/apis/authorization.cluster.io/v1'
const maps = (...verbs: string[]): RuleInput => ({ apiGroups: [''], resources: ['configmaps'], verbs })

describe('authorization', { concurrency: 4 }, () => {
  const files = new FlagFiles()
  let running: Embedded
  let bob: ApiClient
  let nobody: ApiClient
  const client = (): ApiClient => running.client
  before(async () => {
    const tokens = files.write('tokens.csv', 'bob-token,bob,bob-uid,"devs"\n')
    running = await startEmbedded('lmdb', [`--token-auth-file=${tokens}`])
    const access = { url: running.server.url, ca: running.server.caPem }
    bob = new ApiClient({ ...access, token: 'bob-token' })
    nobody = new ApiClient(access)
  })
  after(async () => {
    bob.close()
    nobody.close()
    await running.close()
    files.remove()
  })

  test('a fresh server lets everybody see that it is well, the known what there is, and only masters the rest', async () => {
    for (const path of ['/livez', '/readyz', '/healthz', '/version']) assert.equal((await nobody.get(path)).status, 200, path)
    for (const path of ['/api', '/apis', '/openapi/v2', '/livez/ping', '/metrics', '/'])
      assert.equal((await nobody.get(path)).status, 403, path)
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

  test('a binding counts for the next request, and so does its end', async () => {
    const namespace = await newNamespace(client(), 'next')
    const place = `${rbac}/namespaces/${namespace}`
    expectStatus(await client().post(`${place}/roles`, roleOf('r', maps('list'))), 201)
    for (let round = 0; round < 20; round++) {
      assert.equal((await bob.get(configMaps(namespace))).status, 403)
      expectStatus(await client().post(`${place}/rolebindings`, bindingOf('b', 'Role', 'r', 'bob')), 201)
      assert.equal((await bob.get(configMaps(namespace))).status, 200)
      if (round % 2 === 0) expectStatus(await client().delete(`${place}/rolebindings/b`), 200)
      else {
        expectStatus(await client().put(`${place}/roles/r`, roleOf('r')), 200)
        assert.equal((await bob.get(configMaps(namespace))).status, 403)
        expectStatus(await client().put(`${place}/roles/r`, roleOf('r', maps('list'))), 200)
        expectStatus(await client().delete(`${place}/rolebindings/b`), 200)
      }
    }
    expectFailure(await bob.get(configMaps(namespace)), 403, 'Forbidden')
  })

  test('roles and bindings change while requests run: each is decided by what is there when it comes', async () => {
    const namespace = await newNamespace(client(), 'flight')
    const place = `${rbac}/namespaces/${namespace}`
    expectStatus(await client().post(`${place}/roles`, roleOf('r', maps('list', 'create'))), 201)
    let isOver = false
    const codes = new Set<number>()
    // On a busy machine somebody may be told to come again.
    const ask = () =>
      until(
        () => bob.get(configMaps(namespace)),
        ({ status }) => status !== 429,
      )
    const reading = (async () => {
      for (let i = 0; !isOver; i++) {
        codes.add((await bob.get(configMaps(namespace))).status)
        codes.add((await bob.post(configMaps(namespace), configMapOf(`m${i}`))).status)
      }
    })()
    for (let i = 0; i < 25; i++) {
      expectStatus(await client().post(`${place}/rolebindings`, bindingOf('b', 'Role', 'r', 'bob')), 201)
      expectStatus(await ask(), 200)
      expectStatus(await client().delete(`${place}/rolebindings/b`), 200)
      expectFailure(await ask(), 403, 'Forbidden')
    }
    isOver = true
    await reading
    assert.deepEqual(
      [...codes].filter((code) => ![200, 201, 403, 429].includes(code)),
      [],
    )
  })

  test('a watch that may begin goes on; the next one is asked about again', async () => {
    const namespace = await newNamespace(client(), 'watch')
    await grant(client(), 'watcher', [maps('watch')], namespace)
    const watch = await client().watch(`${configMaps(namespace)}?watch=1`, { 'impersonate-user': 'watcher' })
    assert.equal(watch.status, 200)
    watch.close()
    expectStatus(await client().delete(`${rbac}/namespaces/${namespace}/rolebindings/watcher`), 200)
    expectFailure(await as(client(), 'watcher')('GET', `${configMaps(namespace)}?watch=1`), 403, 'Forbidden')
  })

  test('tricks with paths lead around no rule', async () => {
    const namespace = await newNamespace(client(), 'tricks')
    const other = await newNamespace(client(), 'secret')
    expectStatus(await client().post(`/api/v1/namespaces/${other}/secrets`, { metadata: { name: 's' }, data: { k: 'dG9wc2VjcmV0' } }), 201)
    expectStatus(await client().post(configMaps(namespace), configMapOf('c')), 201)
    await grant(client(), 'tricky', [maps('*')], namespace)
    await grant(client(), 'tricky-paths', [{ nonResourceURLs: ['/logs/*', '/livez'], verbs: ['*'] }])
    const secrets = `/api/v1/namespaces/${other}/secrets/s`
    const own = `/api/v1/namespaces/${namespace}`
    const paths = [
      secrets,
      `${own}/../${other}/secrets/s`,
      `${own}/configmaps/../../${other}/secrets/s`,
      `${own}/%2e%2e/${other}/secrets/s`,
      `${own}%2f..%2f${other}%2fsecrets%2fs`,
      `${own}/configmaps/%2e%2e/%2e%2e/${other}/secrets/s`,
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
          const answer = await as(client(), user)(method, path)
          assert.ok(answer.status >= 400, `${user}: ${method} ${path} answered ${answer.status}`)
          assert.ok(!answer.text.includes('dG9wc2VjcmV0'), path)
        }
      }
    }
    expectStatus(await client().get(secrets), 200)
    expectStatus(await as(client(), 'tricky')('GET', `${own}/configmaps/c`), 200)
  })

  test('impersonation gives nobody more than they may have', async () => {
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
    // A user of the name of an administrator has none of its groups; and a list in one header is one group.
    expectFailure(await bob.get(path, { 'impersonate-user': 'admin' }), 403, 'Forbidden')
    expectFailure(await bob.get(path, { 'impersonate-user': 'zoe', 'impersonate-group': 'a, system:masters' }), 403, 'Forbidden')
    expectFailure(await nobody.get(path, { 'impersonate-user': 'admin' }), 403, 'Forbidden')
    for (const header of ['Impersonate_User', 'X-Impersonate-User'])
      expectFailure(await bob.get(path, { [header]: 'zoe' }), 403, 'Forbidden')
    expectStatus(await client().delete(`${rbac}/clusterrolebindings/actor`), 200)
  })

  test('who may patch and not create makes nothing by apply, nor who may update by PUT', async () => {
    const namespace = await newNamespace(client(), 'byway')
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
    // Leases may be made by PUT.
    const leases = `/apis/coordination.cluster.io/v1/namespaces/${namespace}/leases`
    await grant(
      client(),
      'updater',
      [{ apiGroups: ['coordination.cluster.io'], resources: ['leases'], verbs: ['get', 'update'] }],
      namespace,
    )
    expectFailure(await as(client(), 'updater')('PUT', `${leases}/l`, { metadata: { name: 'l' } }), 403, 'Forbidden')
    const { json: made } = expectStatus(await client().put(`${leases}/l`, { metadata: { name: 'l' } }), 201)
    expectStatus(await as(client(), 'updater')('PUT', `${leases}/l`, made), 200)
  })

  test('who may read one object by its name sees no other by any selector', async () => {
    const namespace = await newNamespace(client(), 'names')
    for (const name of ['one', 'two'])
      expectStatus(await client().post(configMaps(namespace), configMapOf(name, { labels: { name } })), 201)
    await grant(client(), 'named', [{ ...maps('get', 'list', 'watch', 'delete', 'deletecollection'), resourceNames: ['one'] }], namespace)
    const named = as(client(), 'named')
    const list = async (query: string): Promise<Answer> => named('GET', `${configMaps(namespace)}${query}`)
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

  test('to delete one object is not to delete all, and to see all namespaces not to see one', async () => {
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

  test('a subresource is not its object, and scale is that of every kind where a rule says so', async () => {
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

  test('reviews tell what is so', async () => {
    const namespace = await newNamespace(client(), 'reviews')
    await grant(client(), 'reviewed', [{ ...maps('get'), resourceNames: ['a'] }], namespace)
    const attributes = { namespace, verb: 'get', resource: 'configmaps', name: 'a' }
    const ask = async (path: string, spec: object, who = client()) =>
      expectStatus(await who.post(`${reviews}/${path}`, { spec }), 201).json['status']
    assert.deepEqual(await ask('subjectaccessreviews', { user: 'reviewed', resourceAttributes: attributes }), {
      allowed: true,
      reason: `RBAC: allowed by RoleBinding "reviewed/${namespace}" of Role "reviewed" to User "reviewed"`,
    })
    assert.deepEqual(await ask('subjectaccessreviews', { user: 'reviewed', resourceAttributes: { ...attributes, name: 'b' } }), {
      allowed: false,
    })
    const local = { user: 'reviewed', resourceAttributes: attributes }
    assert.equal(((await ask(`namespaces/${namespace}/localsubjectaccessreviews`, local)) as { allowed: boolean }).allowed, true)
    assert.deepEqual(await ask('selfsubjectaccessreviews', { resourceAttributes: attributes }, bob), { allowed: false })
    const version = { nonResourceAttributes: { path: '/version', verb: 'get' } }
    assert.match(
      String(((await ask('selfsubjectaccessreviews', version, bob)) as { reason: string }).reason),
      /ClusterRoleBinding "system:(discovery|public-info-viewer)"/,
    )
    expectFailure(await bob.post(`${reviews}/subjectaccessreviews`, { spec: local }), 403, 'Forbidden')
    const { json: answer } = await as(client(), 'reviewed')('POST', `${reviews}/selfsubjectrulesreviews`, { spec: { namespace } })
    assert.deepEqual([answer['metadata'], answer['spec']], [{ creationTimestamp: null }, {}])
    const rules = answer['status'] as {
      incomplete: boolean
      resourceRules: readonly { resources: readonly string[]; resourceNames?: readonly string[] }[]
      nonResourceRules: readonly object[]
    }
    assert.equal(rules.incomplete, false)
    assert.ok(rules.resourceRules.some(({ resources, resourceNames }) => resources[0] === 'configmaps' && resourceNames?.[0] === 'a'))
    assert.ok(rules.nonResourceRules.length > 0)
  })

  test('roles that collect have what they collect, and lose it', async () => {
    const rule = { apiGroups: ['example.com'], resources: ['things'], verbs: ['get'] }
    const label = `${rbacGroup}/aggregate-to-view`
    expectStatus(
      await client().post(`${rbac}/clusterroles`, { metadata: { name: 'things', labels: { [label]: 'true' } }, rules: [rule] }),
      201,
    )
    expectStatus(await client().post(`${rbac}/clusterrolebindings`, bindingOf('viewer', 'ClusterRole', 'view', 'viewer')), 201)
    const may = async (): Promise<boolean> => {
      const spec = { user: 'viewer', resourceAttributes: { verb: 'get', group: 'example.com', resource: 'things', namespace: 'default' } }
      return ((await client().post(`${reviews}/subjectaccessreviews`, { spec })).json['status'] as { allowed: boolean }).allowed
    }
    await until(may, (allowed) => allowed)
    expectStatus(await client().delete(`${rbac}/clusterroles/things`), 200)
    await until(may, (allowed) => !allowed)
  })
})
