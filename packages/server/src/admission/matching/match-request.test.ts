// Matching of webhooks and policies: rules, selectors, equivalent versions, exemptions.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { type ApiObject, members } from '@cluster-apiserver/api/api/object.js'
import { everythingSelector, fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import {
  type Criteria,
  matchesRule,
  type OperationRule,
} from '@cluster-apiserver/api/resources/admissionregistration/policy/match-rules.js'
import { type AdmissionFixture, admissionFixture, type RequestInput } from '../admission.fixture.js'
import { isExempt, type MatchSource, match, namespaceOf } from './match-request.js'
import { requestedKind, toStoredVersion, versionedJson, versionedObject } from './versioned-object.js'

const everything: OperationRule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], scope: '*' }
const pods = { group: '', version: 'v1', name: 'pods', namespaced: true }
const nodes = { group: '', version: 'v1', name: 'nodes', namespaced: false }

const rows: readonly (readonly [string, Partial<OperationRule>, typeof pods, string, boolean])[] = [
  ['everything', {}, pods, 'status', true],
  ['another operation', { operations: ['UPDATE', 'DELETE'] }, pods, '', false],
  ['this operation', { operations: ['UPDATE', 'CREATE'] }, pods, '', true],
  ['another group', { apiGroups: ['apps'] }, pods, '', false],
  ['another version', { apiVersions: ['v2'] }, pods, '', false],
  ['all resources, requested a subresource,', { resources: ['*'] }, pods, 'status', false],
  ['all resources', { resources: ['*'] }, pods, '', true],
  ['a resource and its subresources', { resources: ['pods/*'] }, pods, 'status', true],
  ['a resource and its subresources, requested the resource,', { resources: ['pods/*'] }, pods, '', true],
  ['one subresource of all resources', { resources: ['*/status'] }, pods, 'status', true],
  ['one subresource of all resources, requested another subresource,', { resources: ['*/status'] }, pods, 'scale', false],
  ['one subresource, requested the resource,', { resources: ['pods/status'] }, pods, '', false],
  ['namespaced resources', { scope: 'Namespaced' }, pods, '', true],
  ['namespaced resources, requested a cluster-scoped one,', { scope: 'Namespaced' }, nodes, '', false],
  ['cluster-scoped resources', { scope: 'Cluster' }, nodes, '', true],
  ['no resources', { resources: [] }, pods, '', false],
]

for (const [title, rule, resource, subresource, isMatch] of rows) {
  test(`a rule for ${title} ${isMatch ? 'matches' : 'does not match'}`, () =>
    assert.equal(matchesRule({ ...everything, ...rule }, { operation: 'CREATE', resource, subresource }), isMatch))
}

const matchAll: Criteria = { rules: [everything], isEquivalent: false, namespaces: everythingSelector, objects: everythingSelector }

const sourceOf = ({ store, catalog, find }: AdmissionFixture): MatchSource => ({
  store,
  catalogs: { current: catalog },
  namespaces: find('namespaces'),
})

test('namespaceSelector uses stored labels, and new labels for a Namespace that is written', async () => {
  const fixture = await admissionFixture()
  const [namespaces, maps] = [fixture.find('namespaces'), fixture.find('configmaps')]
  await fixture.put(namespaces, { metadata: { name: 'shop', labels: { tier: 'web' } } })
  const criteria = { ...matchAll, namespaces: fromSelectorObject({ matchLabels: { tier: 'web' } }) }
  const isMatch = (input: RequestInput): boolean => match(criteria, fixture.request(input), sourceOf(fixture)) !== undefined
  const web = { name: 'x', labels: { tier: 'web' } }
  assert.ok(isMatch({ resource: maps, object: { metadata: { name: 'a', namespace: 'shop' } } }))
  assert.ok(isMatch({ resource: fixture.find('nodes'), object: { metadata: { name: 'n' } } }))
  assert.ok(isMatch({ resource: namespaces, object: { metadata: web } }))
  assert.ok(!isMatch({ resource: namespaces, operation: 'UPDATE', name: 'shop', object: { metadata: { name: 'shop' } } }))
  assert.ok(isMatch({ resource: namespaces, operation: 'DELETE', name: 'shop', old: { metadata: { name: 'shop' } } }))
  assert.ok(
    isMatch({ resource: namespaces, operation: 'UPDATE', subresource: 'finalize', name: 'shop', object: { metadata: { name: 'shop' } } }),
  )
  await fixture.put(namespaces, { metadata: { name: 'other' } })
  assert.ok(!isMatch({ resource: maps, object: { metadata: { name: 'a', namespace: 'other' } } }))
  const missing = { resource: maps, object: { metadata: { name: 'a', namespace: 'gone' } } }
  assert.throws(
    () => isMatch(missing),
    (thrown) => thrown instanceof ApiError && thrown.status.code === 404,
  )
  // A request that does not match for another reason is not an error.
  const unselected = { ...criteria, objects: fromSelectorObject({ matchLabels: { a: 'b' } }) }
  assert.equal(match(unselected, fixture.request(missing), sourceOf(fixture)), undefined)
  assert.equal(match({ ...criteria, rules: [] }, fixture.request(missing), sourceOf(fixture)), undefined)
  assert.equal(namespaceOf(fixture.request({ resource: namespaces, object: { metadata: web } })), 'x')
})

test('objectSelector matches the new or the old labels', async () => {
  const fixture = await admissionFixture()
  const maps = fixture.find('configmaps')
  const criteria = { ...matchAll, objects: fromSelectorObject({ matchExpressions: [{ key: 'team', operator: 'In', values: ['x'] }] }) }
  const isMatch = (input: Partial<RequestInput>): boolean =>
    match(criteria, fixture.request({ resource: maps, namespace: 'n', name: 'a', operation: 'UPDATE', ...input }), sourceOf(fixture)) !==
    undefined
  const [withoutLabels, withLabels] = [{ metadata: { name: 'a' } }, { metadata: { name: 'a', labels: { team: 'x' } } }]
  assert.ok(!isMatch({ object: withoutLabels, old: withoutLabels }))
  assert.ok(isMatch({ object: withLabels, old: withoutLabels }))
  assert.ok(isMatch({ object: withoutLabels, old: withLabels }))
  assert.ok(isMatch({ operation: 'DELETE', old: withLabels }))
  const unlabelled = { ...matchAll, objects: fromSelectorObject({ matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] }) }
  const exec = fixture.request({
    resource: fixture.find('pods'),
    operation: 'CONNECT',
    subresource: 'exec',
    name: 'p',
    object: { command: ['ls'] },
  })
  assert.equal(match(unlabelled, exec, sourceOf(fixture)), undefined)
  assert.equal(match(matchAll, exec, sourceOf(fixture))?.kind, 'PodExecOptions')
})

test('matchPolicy Equivalent matches other versions, and objects are converted to them', async () => {
  const fixture = await admissionFixture()
  const events = fixture.find('events', 'events.k8s.io')
  const rule = { ...everything, apiGroups: [''], apiVersions: ['v1'], resources: ['events'] }
  const stored = { metadata: { name: 'e', namespace: 'n' }, reason: 'r', message: 'm', involvedObject: { kind: 'Pod', name: 'p' } }
  const request = fixture.request({ resource: events, object: stored })
  const criteria: Criteria = { ...matchAll, rules: [rule] }
  assert.equal(match(criteria, request, sourceOf(fixture)), undefined)
  const matched = match({ ...criteria, isEquivalent: true }, request, sourceOf(fixture))
  assert.ok(matched !== undefined)
  assert.deepEqual([matched.apiVersion, matched.kind, matched.resource.name], ['v1', 'Event', 'events'])
  const converted = members((await versionedObject(request, stored, matched)) as ApiObject)
  assert.deepEqual([converted['apiVersion'], converted['message'], converted['note']], ['v1', 'm', undefined])
  const asRequested = members((await versionedObject(request, stored, requestedKind(request))) as ApiObject)
  assert.deepEqual(
    [asRequested['apiVersion'], asRequested['note'], asRequested['regarding']],
    ['events.k8s.io/v1', 'm', { kind: 'Pod', name: 'p' }],
  )
  assert.equal(await versionedObject(request, stored, matched), converted)
  assert.match(
    await versionedJson(request, stored, matched),
    /^\{"kind":"Event","apiVersion":"v1","metadata":\{"name":"e",.*"creationTimestamp":null/,
  )
  const restored = members(await toStoredVersion(request, asRequested as ApiObject, requestedKind(request)))
  assert.deepEqual([restored['kind'], restored['message'], restored['involvedObject']], [undefined, 'm', stored.involvedObject])
})

test('rules of policies may have resourceNames, and exclude objects', async () => {
  const fixture = await admissionFixture()
  const isMatch = (criteria: Partial<Criteria>): boolean => {
    const request = fixture.request({ resource: fixture.find('configmaps'), object: { metadata: { name: 'a', namespace: 'n' } } })
    return match({ ...matchAll, ...criteria }, request, sourceOf(fixture)) !== undefined
  }
  assert.ok(isMatch({ rules: [{ ...everything, resourceNames: ['b', 'a'] }] }))
  assert.ok(!isMatch({ rules: [{ ...everything, resourceNames: ['b'] }] }))
  assert.ok(isMatch({ rules: undefined }))
  assert.ok(!isMatch({ rules: undefined, excluded: [{ ...everything, resourceNames: ['a'] }] }))
  assert.ok(isMatch({ rules: undefined, excluded: [{ ...everything, resources: ['secrets'] }] }))
})

test('webhooks and policies do not apply to webhook configurations and policies', async () => {
  const fixture = await admissionFixture('cluster')
  const isExemptResource = (resource: Resource): boolean => isExempt(fixture.request({ resource, object: {} }))
  const group = 'admissionregistration.cluster.io'
  assert.ok(isExemptResource(fixture.find('validatingwebhookconfigurations', group)))
  assert.ok(isExemptResource(fixture.find('validatingadmissionpolicybindings', group, 'v1alpha1')))
  assert.ok(!isExemptResource(fixture.find('configmaps')))
})
