// Nobody gives what he does not have: by no verb, no form of patch, no dry run and no detour.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { expectFailure, expectStatus, newNamespace } from '../kit/fixtures.js'
import { apply, as, bindingOf, grant, json, merge, type RuleInput, rbac, rbacGroup, roleOf, strategic } from './acting.js'

const kinds = ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings']
const manage: RuleInput = {
  apiGroups: [rbacGroup],
  resources: kinds,
  verbs: ['get', 'create', 'update', 'patch', 'delete', 'deletecollection'],
}
const pods: RuleInput = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }
const secrets: RuleInput = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] }

describe('escalation', { concurrency: 4 }, () => {
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
    const placeOf = async (): Promise<string> =>
      namespaced ? `${rbac}/namespaces/${await newNamespace(running.client, 'escalation')}` : rbac
    const unique = (word: string): string => `${word}-${namespaced ? 'n' : 'c'}`

    test(`${roles}: every way to write one`, async () => {
      const place = await placeOf()
      const owner = as(running.client, 'owner')
      const name = unique('held')
      const typed = { apiVersion: `${rbacGroup}/v1`, kind: roleKind }
      expectStatus(await owner('POST', `${place}/${roles}`, roleOf(name, pods)), 201)
      const strong = (of: string) => roleOf(of, pods, secrets)
      const fresh = unique('fresh')
      const ways: readonly [string, string, unknown, Record<string, string>?][] = [
        ['POST', `${place}/${roles}`, strong(fresh)],
        ['POST', `${place}/${roles}`, { ...strong(''), metadata: { generateName: 'g-' } }],
        ['PUT', `${place}/${roles}/${name}`, strong(name)],
        ['PUT', `${place}/${roles}/${fresh}`, strong(fresh)],
        ['PATCH', `${place}/${roles}/${name}`, { rules: [secrets] }, merge],
        ['PATCH', `${place}/${roles}/${name}`, { rules: [secrets] }, strategic],
        ['PATCH', `${place}/${roles}/${name}`, [{ op: 'add', path: '/rules/-', value: secrets }], json],
        ['PATCH', `${place}/${roles}/${name}?fieldManager=m&force=true`, { ...typed, ...strong(name) }, apply],
        ['PATCH', `${place}/${roles}/${fresh}?fieldManager=m&force=true`, { ...typed, ...strong(fresh) }, apply],
      ]
      for (const [method, path, body, headers] of ways) {
        for (const dryRun of ['', 'dryRun=All']) {
          const whole = dryRun === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${dryRun}`
          const refused = expectFailure(await owner(method, whole, body, headers), 403, 'Forbidden')
          assert.match(
            refused.message ?? '',
            /is attempting to grant RBAC permissions not currently held:\n\{APIGroups:\[""\], Resources:\["secrets"\], Verbs:\["get"\]\}$/,
          )
        }
      }
      const { json: kept } = expectStatus(await running.client.get(`${place}/${roles}/${name}`), 200)
      assert.equal((kept['rules'] as unknown[]).length, 1)
      expectFailure(await running.client.get(`${place}/${roles}/${fresh}`), 404, 'NotFound')
      expectStatus(await as(running.client, 'escalator')('PUT', `${place}/${roles}/${name}`, strong(name)), 200)
      // Whoever has less may not touch what is stronger, but let it go.
      expectFailure(await owner('PATCH', `${place}/${roles}/${name}`, { metadata: { labels: { a: 'b' } } }, merge), 403, 'Forbidden')
      expectStatus(await owner('PATCH', `${place}/${roles}/${name}`, { metadata: { finalizers: ['a/b'] } }, merge), 200)
      expectStatus(await owner('PATCH', `${place}/${roles}/${name}`, { metadata: { finalizers: null } }, merge), 200)
      expectStatus(await owner('PUT', `${place}/${roles}/${name}`, roleOf(name, pods)), 200)
    })

    test(`${bindings}: every way to write one`, async () => {
      const place = await placeOf()
      const owner = as(running.client, 'owner')
      const [name, fresh, weak] = [unique('bound'), unique('free'), unique('weak')]
      const typed = { apiVersion: `${rbacGroup}/v1`, kind: bindingKind }
      expectStatus(await running.client.post(`${place}/${bindings}`, bindingOf(name, 'ClusterRole', 'vault', 'someone')), 201)
      const more = bindingOf(name, 'ClusterRole', 'vault', 'owner')
      const made = bindingOf(fresh, 'ClusterRole', 'vault', 'owner')
      const ways: readonly [string, string, unknown, Record<string, string>?][] = [
        ['POST', `${place}/${bindings}`, made],
        ['PUT', `${place}/${bindings}/${name}`, more],
        ['PUT', `${place}/${bindings}/${fresh}`, made],
        ['PATCH', `${place}/${bindings}/${name}`, { subjects: more.subjects }, merge],
        ['PATCH', `${place}/${bindings}/${name}`, { subjects: more.subjects }, strategic],
        ['PATCH', `${place}/${bindings}/${name}`, [{ op: 'replace', path: '/subjects/0/name', value: 'owner' }], json],
        ['PATCH', `${place}/${bindings}/${name}?fieldManager=m&force=true`, { ...typed, ...more }, apply],
        ['PATCH', `${place}/${bindings}/${fresh}?fieldManager=m&force=true`, { ...typed, ...made }, apply],
      ]
      for (const [method, path, body, headers] of ways) {
        for (const dryRun of ['', 'dryRun=All']) {
          const whole = dryRun === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${dryRun}`
          expectFailure(await owner(method, whole, body, headers), 403, 'Forbidden')
        }
      }
      expectFailure(
        await owner('POST', `${place}/${bindings}`, bindingOf(fresh, 'ClusterRole', 'nobody-made-it', 'owner')),
        404,
        'NotFound',
      )
      // For somebody else than the owner, whose rights the tests beside this one rely on.
      const given = bindingOf(fresh, 'ClusterRole', 'vault', 'friend')
      expectStatus(await as(running.client, 'binder')('POST', `${place}/${bindings}`, given), 201)
      expectFailure(
        await as(running.client, 'binder')('POST', `${place}/${bindings}`, bindingOf(weak, 'ClusterRole', 'cluster-admin', 'binder')),
        403,
        'Forbidden',
      )
      expectStatus(await owner('DELETE', `${place}/${bindings}/${fresh}`), 200)
    })
  }

  test('a role that collects is for those who may do everything', async () => {
    const owner = as(running.client, 'owner')
    const collecting = { metadata: { name: 'collecting' }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }
    const refused = expectFailure(await owner('POST', `${rbac}/clusterroles`, collecting), 403, 'Forbidden')
    assert.match(refused.message ?? '', /must have cluster-admin privileges to use the aggregationRule$/)
    expectStatus(await owner('POST', `${rbac}/clusterroles`, roleOf('plain', pods)), 201)
    for (const [body, headers] of [
      [{ aggregationRule: collecting.aggregationRule }, merge],
      [[{ op: 'add', path: '/aggregationRule', value: collecting.aggregationRule }], json],
    ] as const)
      expectFailure(await owner('PATCH', `${rbac}/clusterroles/plain`, body, headers), 403, 'Forbidden')
    expectStatus(await running.client.post(`${rbac}/clusterroles`, collecting), 201)
    expectFailure(await owner('PATCH', `${rbac}/clusterroles/collecting`, { aggregationRule: null }, merge), 403, 'Forbidden')
    await grant(running.client, 'almighty', [
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { nonResourceURLs: ['*'], verbs: ['*'] },
    ])
    const made = await as(running.client, 'almighty')('POST', `${rbac}/clusterroles`, {
      ...collecting,
      metadata: { name: 'collecting-too' },
    })
    expectStatus(made, 201)
  })

  test('who may label a role that others collect must hold its rules', async () => {
    expectStatus(await running.client.post(`${rbac}/clusterroles`, roleOf('labelled', secrets)), 201)
    const label = { metadata: { labels: { [`${rbacGroup}/aggregate-to-view`]: 'true' } } }
    expectFailure(await as(running.client, 'owner')('PATCH', `${rbac}/clusterroles/labelled`, label, merge), 403, 'Forbidden')
  })

  test('rights that are taken away are not given on by a request that comes after', async () => {
    await grant(running.client, 'fading', [manage, secrets])
    const fading = as(running.client, 'fading')
    expectStatus(await fading('POST', `${rbac}/clusterroles`, roleOf('given-1', secrets)), 201)
    expectStatus(await running.client.put(`${rbac}/clusterroles/fading`, roleOf('fading', manage)), 200)
    expectFailure(await fading('POST', `${rbac}/clusterroles`, roleOf('given-2', secrets)), 403, 'Forbidden')
    expectStatus(await running.client.delete(`${rbac}/clusterrolebindings/fading`), 200)
    expectFailure(await fading('GET', `${rbac}/clusterroles/fading`), 403, 'Forbidden')
  })

  test('rules that come to more than anybody could go through are refused, and others are answered meanwhile', async () => {
    const words = (letter: string): string[] => Array.from({ length: 2000 }, (_, i) => `${letter}${i}`)
    const huge = roleOf('huge', { apiGroups: words('g'), resources: words('r'), resourceNames: words('n'), verbs: words('v') })
    const answer = as(running.client, 'owner')('POST', `${rbac}/clusterroles`, huge)
    expectStatus(await running.client.get('/livez'), 200)
    assert.match(expectFailure(await answer, 403, 'Forbidden').message ?? '', /too many/)
  })
})
