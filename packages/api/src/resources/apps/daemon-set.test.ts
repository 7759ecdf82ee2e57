// Daemon sets: the count of templates, the two ways to roll, status and row. And revisions, which do not change.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testContext } from '../../api/rule-context.fixture.js'
import { assertFound, type Row } from '../core/pod-spec/pod-spec.fixture.js'
import { selector, template, testMetadata, writerOf } from '../core/workload.fixture.js'
import { controllerRevision } from './controller-revision.js'
import { daemonSet } from './daemon-set.js'
import type { ControllerRevision, DaemonSet, DaemonSetSpec } from './v1.schema.js'

const { kind, complete, create, update, part, createErrors, updateErrors, statusErrors, cells } = writerOf<DaemonSet>(daemonSet)
const context = testContext()
const make = (more: DaemonSetSpec = {}): DaemonSet => ({ spec: { selector, template: template(), ...more } })
const key = 'deprecated.daemonset.template.generation'
const countOf = ({ metadata }: DaemonSet): string | undefined => metadata?.annotations?.[key]

test('what is left out is filled in', () => {
  const { spec } = complete(make())
  assert.deepEqual(spec?.updateStrategy, { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } })
  assert.equal(spec?.revisionHistoryLimit, 10)
  assert.deepEqual(complete(make({ updateStrategy: { type: 'OnDelete' } })).spec?.updateStrategy, { type: 'OnDelete' })
})

test('templates are counted, by the server alone', () => {
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

test('a status does not touch the count', () => {
  const old = create(make())
  const reported = (annotations: { readonly [name: string]: string }): DaemonSet =>
    part('status').prepareUpdate(complete({ ...old, metadata: { ...testMetadata, annotations } }), old, context)
  assert.deepEqual(reported({ a: 'b' }).metadata?.annotations, { a: 'b', [key]: '1' })
  assert.equal(countOf(reported({ [key]: '9' })), '1')
})

const rows: readonly Row<DaemonSetSpec>[] = [
  { title: 'nothing wrong', given: make().spec ?? {}, found: [] },
  {
    title: 'nothing at all',
    given: {},
    found: ['spec.template.metadata.labels: Invalid value: "null"', 'spec.template.spec.containers: Required value'],
  },
  {
    title: 'an empty selector',
    given: { selector: {}, template: template() },
    found: ['spec.selector: Invalid value: {}: empty selector is invalid for daemonset'],
  },
  {
    title: 'pods that end, and a disk for all of them',
    given: {
      selector,
      template: template({
        restartPolicy: 'Never',
        activeDeadlineSeconds: 1,
        volumes: [{ name: 'v', gcePersistentDisk: { pdName: 'd' } }],
      }),
    },
    found: [
      'spec.template.spec.volumes[0].gcePersistentDisk.readOnly: Invalid value: false',
      'spec.template.spec.restartPolicy: Unsupported value: "Never"',
      'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported',
    ],
  },
  {
    title: 'no way to roll',
    given: { selector, template: template(), updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 0 } } },
    found: ['spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0'],
  },
  {
    title: 'two ways to roll',
    given: { selector, template: template(), updateStrategy: { rollingUpdate: { maxUnavailable: '10%', maxSurge: '200%' } } },
    found: [
      'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "200%": must not be greater than 100%',
      'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "200%": may not be set when maxUnavailable is non-zero',
    ],
  },
  {
    title: 'an unknown strategy and wrong numbers',
    given: { selector, template: template(), updateStrategy: { type: 'Hope' }, minReadySeconds: -1, revisionHistoryLimit: -1 },
    found: [
      'spec.minReadySeconds: Invalid value: -1',
      'spec.updateStrategy: Unsupported value: {"type":"Hope"}: supported values: "RollingUpdate", "OnDelete"',
      'spec.revisionHistoryLimit: Invalid value: -1',
    ],
  },
]
for (const { title, given, found } of rows) test(`create with ${title}`, () => assertFound(createErrors({ spec: given }), found))

test('the selector stays', () => {
  const labels = { app: 'a', b: 'c' }
  const next = make({ selector: { matchLabels: labels }, template: { ...template(), metadata: { labels } } })
  assertFound(updateErrors(next, create(make())), ['spec.selector: Invalid value'])
})

test('a status that counts wrong', () => {
  const old = { ...create(make()), status: { collisionCount: 1 } }
  assertFound(statusErrors({ ...make(), status: { numberReady: -1, collisionCount: -1 } }, old), [
    'status.numberReady: Invalid value: -1',
    'status.collisionCount: Invalid value: -1: must be',
    'status.collisionCount: Invalid value: -1: cannot be decremented',
  ])
})

test('the row', () => {
  const status = { desiredNumberScheduled: 5, currentNumberScheduled: 4, numberReady: 3, updatedNumberScheduled: 2, numberAvailable: 1 }
  const object = { ...make({ template: template({ nodeSelector: { b: '2', a: '1' } }) }), status }
  assert.deepEqual(cells(object), ['a', 5, 4, 3, 2, 1, 'a=1,b=2', '90s', 'c', 'i', 'app=a'])
})

test('only a change of the template is warned of', () => {
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

test('a revision has data, which stay', () => {
  assertFound(revisions.createErrors({ revision: -1 }), ['data: Required value: data is mandatory', 'revision: Invalid value: -1'])
  const old = revisions.create({ data: { a: 1 }, revision: 1 })
  assertFound(revisions.updateErrors({ data: { a: 1 }, revision: 2 }, old), [])
  assertFound(revisions.updateErrors({ data: { a: 2 } }, old), ['data: Invalid value: {"a":2}: field is immutable'])
})

test('the row of a revision names its controller', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u', controller: true }
  assert.deepEqual(revisions.cells({ metadata: { ...testMetadata, ownerReferences: [owner] }, revision: 3 }), [
    'a',
    'statefulset.apps/web',
    3,
    '90s',
  ])
  assert.deepEqual(revisions.cells({}), ['a', '<none>', 0, '90s'])
})
