// RBAC escalation: no user grants permissions that they lack, by any verb, patch type or dry run.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { expectFailure, expectStatus, newNamespace } from '../../../../test/kit/fixtures.js'
import { apply, as, bindingOf, grant, json, merge, type RuleInput, rbac, rbacGroup, roleOf, strategic } from './users.js'

const kinds = ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings']
const manage: RuleInput = {
  apiGroups: [rbacGroup],
  resources: kinds,
  verbs: ['get', 'create', 'update', 'patch', 'delete', 'deletecollection'],
}
const pods: RuleInput = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }
const secrets: RuleInput = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] }

describe('RBAC escalation', { concurrency: 4 }, () => {
  let running: Embedded
  before(async () => {
    running = await startEmbedded('memory')
    await grant(running.client, 'owner', [manage, pods])
    await grant(running.client, 'escalator', [
      manage,
      { apiGroups: [rbacGroup], resources: ['roles', 'clusterroles'], verbs: ['escalate'] },
    ])
    await grant(running.client, 'binder', [
      manage,
      { apiGroups: [rbacGroup], resources: ['roles', 'clusterroles'], resourceNames: ['vault'], verbs: ['bind'] },
    ])
    expectStatus(await running.client.post(`${rbac}/clusterroles`, roleOf('vault', secrets)), 201)
  })
  after(() => running.close())

  for (const namespaced of [true, false]) {
    const [roles, bindings, roleKind, bindingKind] = namespaced
      ? ['roles', 'rolebindings', 'Role', 'RoleBinding']
      : ['clusterroles', 'clusterrolebindings', 'ClusterRole', 'ClusterRoleBinding']
    const newScope = async (): Promise<string> =>
      namespaced ? `${rbac}/namespaces/${await newNamespace(running.client, 'escalation')}` : rbac
    const unique = (name: string): string => `${name}-${namespaced ? 'n' : 'c'}`

    test(`${roles}: no write adds rules that the user lacks`, async () => {
      const scope = await newScope()
      const owner = as(running.client, 'owner')
      const name = unique('role')
      const typed = { apiVersion: `${rbacGroup}/v1`, kind: roleKind }
      expectStatus(await owner('POST', `${scope}/${roles}`, roleOf(name, pods)), 201)
      const withSecrets = (roleName: string) => roleOf(roleName, pods, secrets)
      const missing = unique('missing')
      const writes: readonly [string, string, unknown, Record<string, string>?][] = [
        ['POST', `${scope}/${roles}`, withSecrets(missing)],
        ['POST', `${scope}/${roles}`, { ...withSecrets(''), metadata: { generateName: 'g-' } }],
        ['PUT', `${scope}/${roles}/${name}`, withSecrets(name)],
        ['PUT', `${scope}/${roles}/${missing}`, withSecrets(missing)],
        ['PATCH', `${scope}/${roles}/${name}`, { rules: [secrets] }, merge],
        ['PATCH', `${scope}/${roles}/${name}`, { rules: [secrets] }, strategic],
        ['PATCH', `${scope}/${roles}/${name}`, [{ op: 'add', path: '/rules/-', value: secrets }], json],
        ['PATCH', `${scope}/${roles}/${name}?fieldManager=m&force=true`, { ...typed, ...withSecrets(name) }, apply],
        ['PATCH', `${scope}/${roles}/${missing}?fieldManager=m&force=true`, { ...typed, ...withSecrets(missing) }, apply],
      ]
      for (const [method, path, body, headers] of writes) {
        for (const dryRun of ['', 'dryRun=All']) {
          const url = dryRun === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${dryRun}`
          const refused = expectFailure(await owner(method, url, body, headers), 403, 'Forbidden')
          assert.match(
            refused.message ?? '',
            /is attempting to grant RBAC permissions not currently held:\n\{APIGroups:\[""\], Resources:\["secrets"\], Verbs:\["get"\]\}$/,
          )
        }
      }
      const { json: stored } = expectStatus(await running.client.get(`${scope}/${roles}/${name}`), 200)
      assert.equal((stored['rules'] as unknown[]).length, 1)
      expectFailure(await running.client.get(`${scope}/${roles}/${missing}`), 404, 'NotFound')
      expectStatus(await as(running.client, 'escalator')('PUT', `${scope}/${roles}/${name}`, withSecrets(name)), 200)
      // Without the permissions of a role, a user may change only its finalizers and ownerReferences, or reduce its rules.
      expectFailure(await owner('PATCH', `${scope}/${roles}/${name}`, { metadata: { labels: { a: 'b' } } }, merge), 403, 'Forbidden')
      expectStatus(await owner('PATCH', `${scope}/${roles}/${name}`, { metadata: { finalizers: ['a/b'] } }, merge), 200)
      expectStatus(await owner('PATCH', `${scope}/${roles}/${name}`, { metadata: { finalizers: null } }, merge), 200)
      expectStatus(await owner('PUT', `${scope}/${roles}/${name}`, roleOf(name, pods)), 200)
    })

    test(`${bindings}: no write binds a role that the user lacks`, async () => {
      const scope = await newScope()
      const owner = as(running.client, 'owner')
      const [name, missing, weak] = [unique('bound'), unique('missing'), unique('weak')]
      const typed = { apiVersion: `${rbacGroup}/v1`, kind: bindingKind }
      expectStatus(await running.client.post(`${scope}/${bindings}`, bindingOf(name, 'ClusterRole', 'vault', 'someone')), 201)
      const changed = bindingOf(name, 'ClusterRole', 'vault', 'owner')
      const binding = bindingOf(missing, 'ClusterRole', 'vault', 'owner')
      const writes: readonly [string, string, unknown, Record<string, string>?][] = [
        ['POST', `${scope}/${bindings}`, binding],
        ['PUT', `${scope}/${bindings}/${name}`, changed],
        ['PUT', `${scope}/${bindings}/${missing}`, binding],
        ['PATCH', `${scope}/${bindings}/${name}`, { subjects: changed.subjects }, merge],
        ['PATCH', `${scope}/${bindings}/${name}`, { subjects: changed.subjects }, strategic],
        ['PATCH', `${scope}/${bindings}/${name}`, [{ op: 'replace', path: '/subjects/0/name', value: 'owner' }], json],
        ['PATCH', `${scope}/${bindings}/${name}?fieldManager=m&force=true`, { ...typed, ...changed }, apply],
        ['PATCH', `${scope}/${bindings}/${missing}?fieldManager=m&force=true`, { ...typed, ...binding }, apply],
      ]
      for (const [method, path, body, headers] of writes) {
        for (const dryRun of ['', 'dryRun=All']) {
          const url = dryRun === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${dryRun}`
          expectFailure(await owner(method, url, body, headers), 403, 'Forbidden')
        }
      }
      expectFailure(
        await owner('POST', `${scope}/${bindings}`, bindingOf(missing, 'ClusterRole', 'missing-role', 'owner')),
        404,
        'NotFound',
      )
      // For another user, because the other tests rely on the permissions of the owner.
      const otherBinding = bindingOf(missing, 'ClusterRole', 'vault', 'friend')
      expectStatus(await as(running.client, 'binder')('POST', `${scope}/${bindings}`, otherBinding), 201)
      expectFailure(
        await as(running.client, 'binder')('POST', `${scope}/${bindings}`, bindingOf(weak, 'ClusterRole', 'cluster-admin', 'binder')),
        403,
        'Forbidden',
      )
      expectStatus(await owner('DELETE', `${scope}/${bindings}/${missing}`), 200)
    })
  }

  test('an aggregated role requires cluster-admin permissions', async () => {
    const owner = as(running.client, 'owner')
    const aggregated = { metadata: { name: 'collecting' }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }
    const refused = expectFailure(await owner('POST', `${rbac}/clusterroles`, aggregated), 403, 'Forbidden')
    assert.match(refused.message ?? '', /must have cluster-admin privileges to use the aggregationRule$/)
    expectStatus(await owner('POST', `${rbac}/clusterroles`, roleOf('plain', pods)), 201)
    for (const [body, headers] of [
      [{ aggregationRule: aggregated.aggregationRule }, merge],
      [[{ op: 'add', path: '/aggregationRule', value: aggregated.aggregationRule }], json],
    ] as const)
      expectFailure(await owner('PATCH', `${rbac}/clusterroles/plain`, body, headers), 403, 'Forbidden')
    expectStatus(await running.client.post(`${rbac}/clusterroles`, aggregated), 201)
    expectFailure(await owner('PATCH', `${rbac}/clusterroles/collecting`, { aggregationRule: null }, merge), 403, 'Forbidden')
    await grant(running.client, 'everything', [
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { nonResourceURLs: ['*'], verbs: ['*'] },
    ])
    const created = await as(running.client, 'everything')('POST', `${rbac}/clusterroles`, {
      ...aggregated,
      metadata: { name: 'collecting-too' },
    })
    expectStatus(created, 201)
  })

  test('labelling a role for aggregation requires the permissions that it grants', async () => {
    expectStatus(await running.client.post(`${rbac}/clusterroles`, roleOf('labelled', secrets)), 201)
    const label = { metadata: { labels: { [`${rbacGroup}/aggregate-to-view`]: 'true' } } }
    expectFailure(await as(running.client, 'owner')('PATCH', `${rbac}/clusterroles/labelled`, label, merge), 403, 'Forbidden')
  })

  test('revoked permissions cannot be granted by a later request', async () => {
    await grant(running.client, 'demoted', [manage, secrets])
    const demoted = as(running.client, 'demoted')
    expectStatus(await demoted('POST', `${rbac}/clusterroles`, roleOf('given-1', secrets)), 201)
    expectStatus(await running.client.put(`${rbac}/clusterroles/demoted`, roleOf('demoted', manage)), 200)
    expectFailure(await demoted('POST', `${rbac}/clusterroles`, roleOf('given-2', secrets)), 403, 'Forbidden')
    expectStatus(await running.client.delete(`${rbac}/clusterrolebindings/demoted`), 200)
    expectFailure(await demoted('GET', `${rbac}/clusterroles/demoted`), 403, 'Forbidden')
  })

  test('rules with too many combinations are rejected without blocking other requests', async () => {
    const values = (char: string): string[] => Array.from({ length: 2000 }, (_, i) => `${char}${i}`)
    const huge = roleOf('huge', { apiGroups: values('g'), resources: values('r'), resourceNames: values('n'), verbs: values('v') })
    const response = as(running.client, 'owner')('POST', `${rbac}/clusterroles`, huge)
    expectStatus(await running.client.get('/livez'), 200)
    assert.match(expectFailure(await response, 403, 'Forbidden').message ?? '', /too many/)
  })
})
