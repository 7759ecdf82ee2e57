// Which requests hooks and policies are about, and in which version they see their objects.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../api/api-error.js'
import { Catalog, type Resource } from '../../api/catalog.js'
import { everyLabel, fromSelectorObject } from '../../api/label-selector.js'
import { type ApiObject, members } from '../../api/object.js'
import { type Attempt, type Stage, stageOf } from '../stage.fixture.js'
import { type Criteria, type MatchSource, match } from './match.js'
import { isExempt, matchesRule, type OperationRule } from './rules.js'
import { seenAsSent } from './seen-as.js'
import { seenObject, seenText, storedObject } from './seen-object.js'
import { namespaceOf } from './selectors.js'

const everything: OperationRule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], scope: '*' }
const pods = { group: '', version: 'v1', name: 'pods', namespaced: true }
const nodes = { group: '', version: 'v1', name: 'nodes', namespaced: false }

const rows: readonly (readonly [string, Partial<OperationRule>, typeof pods, string, boolean])[] = [
  ['everything', {}, pods, 'status', true],
  ['another operation', { operations: ['UPDATE', 'DELETE'] }, pods, '', false],
  ['this operation', { operations: ['UPDATE', 'CREATE'] }, pods, '', true],
  ['another group', { apiGroups: ['apps'] }, pods, '', false],
  ['another version', { apiVersions: ['v2'] }, pods, '', false],
  ['all resources, not their parts', { resources: ['*'] }, pods, 'status', false],
  ['all resources', { resources: ['*'] }, pods, '', true],
  ['a resource and its parts', { resources: ['pods/*'] }, pods, 'status', true],
  ['a resource and its parts, the resource itself', { resources: ['pods/*'] }, pods, '', true],
  ['one part of all', { resources: ['*/status'] }, pods, 'status', true],
  ['one part of all, not the others', { resources: ['*/status'] }, pods, 'scale', false],
  ['one part', { resources: ['pods/status'] }, pods, '', false],
  ['what is in namespaces', { scope: 'Namespaced' }, pods, '', true],
  ['what is in namespaces, not others', { scope: 'Namespaced' }, nodes, '', false],
  ['what is in no namespace', { scope: 'Cluster' }, nodes, '', true],
  ['nothing', { resources: [] }, pods, '', false],
]

for (const [title, rule, resource, subresource, isMeant] of rows) {
  test(`a rule about ${title}`, () =>
    assert.equal(matchesRule({ ...everything, ...rule }, { operation: 'CREATE', resource, subresource }), isMeant))
}

const all: Criteria = { rules: [everything], isEquivalent: false, namespaces: everyLabel, objects: everyLabel }

const sourceOf = ({ store, catalog, find }: Stage): MatchSource => ({
  store,
  catalogs: { current: catalog },
  namespaces: find('namespaces'),
})

test('a namespace is selected by its labels, and one that is written by those it will have', async () => {
  const stage = await stageOf()
  const [namespaces, maps] = [stage.find('namespaces'), stage.find('configmaps')]
  await stage.put(namespaces, { metadata: { name: 'shop', labels: { tier: 'web' } } })
  const criteria = { ...all, namespaces: fromSelectorObject({ matchLabels: { tier: 'web' } }) }
  const isMeant = (attempt: Attempt): boolean => match(criteria, stage.attempt(attempt), sourceOf(stage)) !== undefined
  const web = { name: 'x', labels: { tier: 'web' } }
  assert.ok(isMeant({ resource: maps, object: { metadata: { name: 'a', namespace: 'shop' } } }))
  assert.ok(isMeant({ resource: stage.find('nodes'), object: { metadata: { name: 'n' } } }))
  assert.ok(isMeant({ resource: namespaces, object: { metadata: web } }))
  assert.ok(!isMeant({ resource: namespaces, operation: 'UPDATE', name: 'shop', object: { metadata: { name: 'shop' } } }))
  assert.ok(isMeant({ resource: namespaces, operation: 'DELETE', name: 'shop', old: { metadata: { name: 'shop' } } }))
  assert.ok(
    isMeant({ resource: namespaces, operation: 'UPDATE', subresource: 'finalize', name: 'shop', object: { metadata: { name: 'shop' } } }),
  )
  await stage.put(namespaces, { metadata: { name: 'other' } })
  assert.ok(!isMeant({ resource: maps, object: { metadata: { name: 'a', namespace: 'other' } } }))
  const missing = { resource: maps, object: { metadata: { name: 'a', namespace: 'gone' } } }
  assert.throws(
    () => isMeant(missing),
    (thrown) => thrown instanceof ApiError && thrown.status.code === 404,
  )
  // Who is not meant for another reason is not told.
  const unselected = { ...criteria, objects: fromSelectorObject({ matchLabels: { a: 'b' } }) }
  assert.equal(match(unselected, stage.attempt(missing), sourceOf(stage)), undefined)
  assert.equal(match({ ...criteria, rules: [] }, stage.attempt(missing), sourceOf(stage)), undefined)
  assert.equal(namespaceOf(stage.attempt({ resource: namespaces, object: { metadata: web } })), 'x')
})

test('an object is selected by its labels or by those it had', async () => {
  const stage = await stageOf()
  const maps = stage.find('configmaps')
  const criteria = { ...all, objects: fromSelectorObject({ matchExpressions: [{ key: 'team', operator: 'In', values: ['x'] }] }) }
  const isMeant = (more: Partial<Attempt>): boolean =>
    match(criteria, stage.attempt({ resource: maps, namespace: 'n', name: 'a', operation: 'UPDATE', ...more }), sourceOf(stage)) !==
    undefined
  const [plain, labelled] = [{ metadata: { name: 'a' } }, { metadata: { name: 'a', labels: { team: 'x' } } }]
  assert.ok(!isMeant({ object: plain, old: plain }))
  assert.ok(isMeant({ object: labelled, old: plain }))
  assert.ok(isMeant({ object: plain, old: labelled }))
  assert.ok(isMeant({ operation: 'DELETE', old: labelled }))
  // Options of a connection have no labels, not even none.
  const unlabelled = { ...all, objects: fromSelectorObject({ matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] }) }
  const exec = stage.attempt({
    resource: stage.find('pods'),
    operation: 'CONNECT',
    subresource: 'exec',
    name: 'p',
    object: { command: ['ls'] },
  })
  assert.equal(match(unlabelled, exec, sourceOf(stage)), undefined)
  assert.equal(match(all, exec, sourceOf(stage))?.kind, 'PodExecOptions')
})

test('equivalent versions are meant where the policy says so, and objects are seen in them', async () => {
  const stage = await stageOf()
  const events = stage.find('events', 'events.k8s.io')
  const rule = { ...everything, apiGroups: [''], apiVersions: ['v1'], resources: ['events'] }
  const stored = { metadata: { name: 'e', namespace: 'n' }, reason: 'r', message: 'm', involvedObject: { kind: 'Pod', name: 'p' } }
  const request = stage.attempt({ resource: events, object: stored })
  const criteria: Criteria = { ...all, rules: [rule] }
  assert.equal(match(criteria, request, sourceOf(stage)), undefined)
  const as = match({ ...criteria, isEquivalent: true }, request, sourceOf(stage))
  assert.ok(as !== undefined)
  assert.deepEqual([as.apiVersion, as.kind, as.resource.name], ['v1', 'Event', 'events'])
  const shown = members((await seenObject(request, stored, as)) as ApiObject)
  assert.deepEqual([shown['apiVersion'], shown['message'], shown['note']], ['v1', 'm', undefined])
  const sent = members((await seenObject(request, stored, seenAsSent(request))) as ApiObject)
  assert.deepEqual([sent['apiVersion'], sent['note'], sent['regarding']], ['events.k8s.io/v1', 'm', { kind: 'Pod', name: 'p' }])
  assert.equal(await seenObject(request, stored, as), shown)
  assert.match(
    await seenText(request, stored, as),
    /^\{"kind":"Event","apiVersion":"v1","metadata":\{"name":"e",.*"creationTimestamp":null/,
  )
  const back = members(await storedObject(request, sent as ApiObject, seenAsSent(request)))
  assert.deepEqual([back['kind'], back['message'], back['involvedObject']], [undefined, 'm', stored.involvedObject])
})

test('rules of policies may name objects and leave some out', async () => {
  const stage = await stageOf()
  const isMeant = (criteria: Partial<Criteria>): boolean => {
    const request = stage.attempt({ resource: stage.find('configmaps'), object: { metadata: { name: 'a', namespace: 'n' } } })
    return match({ ...all, ...criteria }, request, sourceOf(stage)) !== undefined
  }
  assert.ok(isMeant({ rules: [{ ...everything, resourceNames: ['b', 'a'] }] }))
  assert.ok(!isMeant({ rules: [{ ...everything, resourceNames: ['b'] }] }))
  assert.ok(isMeant({ rules: undefined }))
  assert.ok(!isMeant({ rules: undefined, excluded: [{ ...everything, resourceNames: ['a'] }] }))
  assert.ok(isMeant({ rules: undefined, excluded: [{ ...everything, resources: ['secrets'] }] }))
})

test('hooks and policies are never asked about hooks and policies', async () => {
  const stage = await stageOf('cluster')
  const isFree = (resource: Resource): boolean => isExempt(stage.attempt({ resource, object: {} }))
  const group = 'admissionregistration.cluster.io'
  assert.ok(isFree(stage.find('validatingwebhookconfigurations', group)))
  assert.ok(isFree(stage.find('validatingadmissionpolicybindings', group, 'v1alpha1')))
  assert.ok(!isFree(stage.find('configmaps')))
})

test('where somebody else converts, one asks once for a version', async () => {
  const stage = await stageOf()
  const [plain] = stage.find('configmaps').definition.versions
  assert.ok(plain !== undefined)
  let calls = 0
  const definition = {
    ...stage.find('configmaps').definition,
    group: 'things.example.com',
    resource: 'things',
    kind: 'Thing',
    versions: [
      { name: 'v1', schema: plain.schema, stored: true },
      { name: 'v2', schema: plain.schema },
    ],
    conversion: async (objects: readonly ApiObject[], { to }: { readonly to: string }) => {
      calls++
      return objects.map((object) => ({ ...object, data: { to } }))
    },
  }
  const catalog = new Catalog({ identity: stage.catalog.identity, definitions: [definition], isServed: () => true })
  const request = stage.attempt({
    resource: catalog.find('things.example.com', 'v2', 'things') as Resource,
    object: { metadata: { name: 'a' } },
  })
  const as = seenAsSent(request)
  const [one, two] = await Promise.all([1, 2].map(() => seenObject(request, request.object as ApiObject, as)))
  assert.deepEqual(one, {
    kind: 'Thing',
    apiVersion: 'things.example.com/v2',
    metadata: { name: 'a' },
    data: { to: 'things.example.com/v2' },
  })
  assert.equal(one, two)
  await seenText(request, request.object as ApiObject, as)
  assert.equal(calls, 1)
  assert.deepEqual(await storedObject(request, one as ApiObject, as), { metadata: { name: 'a' }, data: { to: 'things.example.com/v1' } })
  const equivalent = match({ ...all, isEquivalent: true, rules: [{ ...everything, apiVersions: ['v1'] }] }, request, {
    ...sourceOf(stage),
    catalogs: { current: catalog },
  })
  assert.equal(equivalent?.apiVersion, 'things.example.com/v1')
})
