// Tests of DaemonSets (template generation, update strategy, status, printer columns) and ControllerRevisions.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testContext } from '../../api/rule-context.fixture.js'
import type { Row } from '../core/pod-spec/pod-spec.fixture.js'
import { selector, template, testMetadata, writerOf } from '../core/workload/workload.fixture.js'
import { expectErrors, rowTitle } from '../expect-errors.fixture.js'
import { controllerRevision } from './controller-revision.js'
import { daemonSet } from './daemon-set.js'
import type { ControllerRevision, DaemonSet, DaemonSetSpec } from './v1.schema.js'

const { kind, complete, create, update, part, createErrors, updateErrors, statusErrors, cells } = writerOf<DaemonSet>(daemonSet)
const context = testContext()
const make = (more: DaemonSetSpec = {}): DaemonSet => ({ spec: { selector, template: template(), ...more } })
const key = 'deprecated.daemonset.template.generation'
const countOf = ({ metadata }: DaemonSet): string | undefined => metadata?.annotations?.[key]

test('defaults', () => {
  const { spec } = complete(make())
  assert.deepEqual(spec?.updateStrategy, { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } })
  assert.equal(spec?.revisionHistoryLimit, 10)
  assert.deepEqual(complete(make({ updateStrategy: { type: 'OnDelete' } })).spec?.updateStrategy, { type: 'OnDelete' })
})

test('the template generation is set by the server', () => {
  const annotated = (value: string): DaemonSet => ({ ...make(), metadata: { ...testMetadata, annotations: { [key]: value } } })
  assert.equal(countOf(complete(make())), '0')
  assert.equal(countOf(create(make())), '1')
  assert.equal(countOf(create(annotated('7'))), '7')
  assert.equal(countOf(create(annotated('seven'))), '1')
  const old = create(make())
  const other = update({ ...make({ minReadySeconds: 1 }), metadata: { ...testMetadata, annotations: { [key]: '9' } } }, old)
  assert.deepEqual([countOf(other), other.metadata?.generation], ['1', 2])
  const rolled = update({ ...make({ template: template({ hostname: 'h' }) }), metadata: old.metadata ?? {} }, old)
  assert.deepEqual([countOf(rolled), rolled.metadata?.generation], ['2', 2])
})

test('a status update keeps the template generation', () => {
  const old = create(make())
  const reported = (annotations: { readonly [name: string]: string }): DaemonSet =>
    part('status').prepareUpdate(complete({ ...old, metadata: { ...testMetadata, annotations } }), old, context)
  assert.deepEqual(reported({ a: 'b' }).metadata?.annotations, { a: 'b', [key]: '1' })
  assert.equal(countOf(reported({ [key]: '9' })), '1')
})

const rows: readonly Row<DaemonSetSpec>[] = [
  [make().spec ?? {}],
  [{}, 'spec.template.metadata.labels: Invalid value: "null"', 'spec.template.spec.containers: Required value'],
  [{ selector: {}, template: template() }, 'spec.selector: Invalid value: {}: empty selector is invalid for daemonset'],
  [
    {
      selector,
      template: template({
        restartPolicy: 'Never',
        activeDeadlineSeconds: 1,
        volumes: [{ name: 'v', gcePersistentDisk: { pdName: 'd' } }],
      }),
    },
    'spec.template.spec.volumes[0].gcePersistentDisk.readOnly: Invalid value: false',
    'spec.template.spec.restartPolicy: Unsupported value: "Never"',
    'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported',
  ],
  [
    { selector, template: template(), updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 0 } } },
    'spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0',
  ],
  [
    { selector, template: template(), updateStrategy: { rollingUpdate: { maxUnavailable: '10%', maxSurge: '200%' } } },
    'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "200%": must not be greater than 100%',
    'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "200%": may not be set when maxUnavailable is non-zero',
  ],
  [
    { selector, template: template(), updateStrategy: { type: 'Hope' }, minReadySeconds: -1, revisionHistoryLimit: -1 },
    'spec.minReadySeconds: Invalid value: -1',
    'spec.updateStrategy: Unsupported value: {"type":"Hope"}: supported values: "RollingUpdate", "OnDelete"',
    'spec.revisionHistoryLimit: Invalid value: -1',
  ],
]
for (const [given, ...expected] of rows)
  test(`create: ${rowTitle(given, expected)}`, () => expectErrors(createErrors({ spec: given }), expected))

test('the selector is immutable', () => {
  const labels = { app: 'a', b: 'c' }
  const next = make({ selector: { matchLabels: labels }, template: { ...template(), metadata: { labels } } })
  expectErrors(updateErrors(next, create(make())), ['spec.selector: Invalid value'])
})

test('status counts are validated', () => {
  const old = { ...create(make()), status: { collisionCount: 1 } }
  expectErrors(statusErrors({ ...make(), status: { numberReady: -1, collisionCount: -1 } }, old), [
    'status.numberReady: Invalid value: -1',
    'status.collisionCount: Invalid value: -1: must be',
    'status.collisionCount: Invalid value: -1: cannot be decremented',
  ])
})

test('printer columns', () => {
  const status = { desiredNumberScheduled: 5, currentNumberScheduled: 4, numberReady: 3, updatedNumberScheduled: 2, numberAvailable: 1 }
  const object = { ...make({ template: template({ nodeSelector: { b: '2', a: '1' } }) }), status }
  assert.deepEqual(cells(object), ['a', 5, 4, 3, 2, 1, 'a=1,b=2', '90s', 'c', 'i', 'app=a'])
})

test('only a changed template gets warnings', () => {
  const git = [{ name: 'g', gitRepo: { repository: 'x' } }]
  const old = create(make({ template: template({ volumes: git }) }))
  const warned = ['spec.template.spec.volumes[0].gitRepo: deprecated in v1.11']
  const change = (spec: Parameters<typeof make>[0]) =>
    kind.warnings?.(update({ ...make(spec), metadata: old.metadata ?? {} }, old), old, context)
  assert.deepEqual(kind.warnings?.(old, undefined, context), warned)
  assert.deepEqual(change({ template: template({ volumes: git }), minReadySeconds: 3 }), [])
  assert.deepEqual(change({ template: template({ volumes: git, hostname: 'h' }) }), warned)
})

const revisions = writerOf<ControllerRevision>(controllerRevision)

test('a ControllerRevision has immutable data', () => {
  expectErrors(revisions.createErrors({ revision: -1 }), ['data: Required value: data is mandatory', 'revision: Invalid value: -1'])
  const old = revisions.create({ data: { a: 1 }, revision: 1 })
  expectErrors(revisions.updateErrors({ data: { a: 1 }, revision: 2 }, old), [])
  expectErrors(revisions.updateErrors({ data: { a: 2 } }, old), ['data: Invalid value: {"a":2}: field is immutable'])
})

test('printer columns of a ControllerRevision name its controller', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u', controller: true }
  assert.deepEqual(revisions.cells({ metadata: { ...testMetadata, ownerReferences: [owner] }, revision: 3 }), [
    'a',
    'statefulset.apps/web',
    3,
    '90s',
  ])
  assert.deepEqual(revisions.cells({}), ['a', '<none>', 0, '90s'])
})
