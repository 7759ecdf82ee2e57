// Stateful sets: defaults of strategy and claims, the few fields that may change, features, status and row.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFound, contextWith, type Row } from '../core/pod-spec/pod-spec.fixture.js'
import { selector, template, writerOf } from '../core/workload.fixture.js'
import { statefulSet } from './stateful-set.js'
import type { StatefulSet, StatefulSetSpec, StatefulSetUpdateStrategy } from './v1.schema.js'

const without = contextWith({ gates: () => false })
const { kind, complete, isComplete, create, part, createErrors, updateErrors, statusErrors, cells } = writerOf<StatefulSet>(
  statefulSet,
  without,
)
const gated = writerOf<StatefulSet>(statefulSet)
const make = (more: StatefulSetSpec = {}): StatefulSet => ({ spec: { selector, template: template(), serviceName: 's', ...more } })

const strategies: readonly {
  readonly title: string
  readonly given?: StatefulSetUpdateStrategy
  readonly filled: StatefulSetUpdateStrategy
}[] = [
  { title: 'nothing', filled: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } },
  { title: 'its type alone', given: { type: 'RollingUpdate' }, filled: { type: 'RollingUpdate' } },
  {
    title: 'its details alone',
    given: { rollingUpdate: { partition: 2 } },
    filled: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
  },
  { title: 'another type', given: { type: 'OnDelete' }, filled: { type: 'OnDelete' } },
]
for (const { title, given, filled } of strategies) {
  test(`a strategy that says ${title} is completed`, () =>
    assert.deepEqual(complete(make(given === undefined ? {} : { updateStrategy: given })).spec?.updateStrategy, filled))
}

test('the other defaults, and what features add', () => {
  const { spec } = complete(make())
  assert.deepEqual([spec?.replicas, spec?.podManagementPolicy, spec?.revisionHistoryLimit], [1, 'OrderedReady', 10])
  assert.equal(spec?.persistentVolumeClaimRetentionPolicy, undefined)
  const more = gated.complete(make()).spec
  assert.deepEqual(more?.persistentVolumeClaimRetentionPolicy, { whenDeleted: 'Retain', whenScaled: 'Retain' })
  assert.deepEqual(more?.updateStrategy?.rollingUpdate, { partition: 0, maxUnavailable: 1 })
})

test('templates of claims are whole objects', () => {
  const claims = [{ metadata: { name: 'v' }, spec: { accessModes: ['ReadWriteOnce'] } }]
  const set = complete(make({ volumeClaimTemplates: claims }))
  assert.deepEqual(set.spec?.volumeClaimTemplates, [
    {
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      metadata: { name: 'v' },
      spec: { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' },
      status: { phase: 'Pending' },
    },
  ])
  assert.ok(isComplete(set))
})

const rows: readonly Row<StatefulSetSpec>[] = [
  {
    title: 'mounts of claims that it makes',
    given: { selector, template: template({ containers: [{ name: 'c', volumeMounts: [{ name: 'v', mountPath: '/v' }] }] }) },
    found: [],
  },
  {
    title: 'words that it does not know',
    given: { selector, template: template(), podManagementPolicy: 'Chaos', updateStrategy: { type: 'Hope' } },
    found: [
      "spec.podManagementPolicy: Invalid value: \"Chaos\": must be 'OrderedReady' or 'Parallel'",
      'spec.updateStrategy: Invalid value: {"type":"Hope"}: must be \'RollingUpdate\' or \'OnDelete\'',
    ],
  },
  {
    title: 'details of another strategy',
    given: { selector, template: template(), updateStrategy: { type: 'OnDelete', rollingUpdate: {} } },
    found: ["spec.updateStrategy.rollingUpdate: Invalid value: {}: only allowed for updateStrategy 'RollingUpdate'"],
  },
  {
    title: 'wrong numbers',
    given: { selector, template: template(), replicas: -1, minReadySeconds: -1, updateStrategy: { rollingUpdate: { partition: -1 } } },
    found: [
      'spec.updateStrategy.rollingUpdate.partition: Invalid value: -1',
      'spec.replicas: Invalid value: -1',
      'spec.minReadySeconds: Invalid value: -1',
    ],
  },
  {
    title: 'nothing at all',
    given: {},
    found: ['spec.selector: Required value', 'spec.template.metadata.labels: Invalid value: "null"'],
  },
  {
    title: 'an empty selector',
    given: { selector: {}, template: template() },
    found: ['spec.selector: Invalid value: {}: empty selector is invalid for statefulset'],
  },
  {
    title: 'a selector that cannot be asked',
    given: { selector: { matchLabels: { a: 'not ok' } }, template: template() },
    found: ['spec.selector.matchLabels: Invalid value: "not ok"', 'spec.selector: Invalid value: {"matchLabels":{"a":"not ok"}}'],
  },
  {
    title: 'pods that end',
    given: { selector, template: template({ restartPolicy: 'Never', activeDeadlineSeconds: 1 }) },
    found: [
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
      'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not Supported',
    ],
  },
]
for (const { title, given, found } of rows) test(`create with ${title}`, () => assertFound(createErrors({ spec: given }), found))

test('rules of features', () => {
  const spec: StatefulSetSpec = {
    ordinals: { start: -1 },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Burn' },
    updateStrategy: { rollingUpdate: { maxUnavailable: '0%' } },
  }
  assertFound(gated.createErrors(make(spec)), [
    'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "0%": cannot be 0',
    'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Burn": supported values: "Retain", "Delete"',
    'spec.ordinals.start: Invalid value: -1',
  ])
  const dropped = create(make(spec)).spec
  assert.deepEqual(
    [dropped?.ordinals, dropped?.persistentVolumeClaimRetentionPolicy, dropped?.updateStrategy?.rollingUpdate],
    [undefined, undefined, { partition: 0 }],
  )
})

const problem =
  "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
const changes: readonly Row<StatefulSetSpec>[] = [
  {
    title: 'what may change',
    given: { replicas: 3, updateStrategy: { type: 'OnDelete' }, minReadySeconds: 2, template: template({ hostname: 'h' }) },
    found: [],
  },
  { title: 'the service', given: { serviceName: 't' }, found: [problem] },
  { title: 'the order', given: { podManagementPolicy: 'Parallel' }, found: [problem] },
  { title: 'the history', given: { revisionHistoryLimit: 3 }, found: [problem] },
  { title: 'claims', given: { volumeClaimTemplates: [{ metadata: { name: 'v' } }] }, found: [problem] },
]
for (const { title, given, found } of changes)
  test(`update of ${title}`, () => assertFound(updateErrors(make(given), create(make())), found))

test('a status that counts wrong', () => {
  const status = { replicas: 1, readyReplicas: 2, currentReplicas: 2, updatedReplicas: 2, availableReplicas: 3, observedGeneration: -1 }
  assertFound(statusErrors({ ...make(), status }, create(make())), [
    'status.observedGeneration: Invalid value: -1',
    'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
    'status.currentReplicas: Invalid value: 2',
    'status.updatedReplicas: Invalid value: 2',
    'status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas',
    'status.availableReplicas: Invalid value: 3: cannot be greater than status.readyReplicas',
  ])
})

test('scale and row', () => {
  const view = part('scale').view?.read(create(make())) as { readonly status: unknown }
  assert.deepEqual(view.status, { replicas: 0, selector: 'app=a' })
  assert.deepEqual(cells({ ...make({ replicas: 3 }), status: { readyReplicas: 1 } }), ['a', '1/3', '90s', 'c', 'i'])
})

test('parts of bytes in a claim are warned of', () => {
  const set = create(make({ volumeClaimTemplates: [{ spec: { resources: { requests: { storage: '100m' } } } }] }))
  const told = (path: string): readonly string[] => [
    `${path}.resources.requests[storage]: fractional byte value "100m" is invalid, must be an integer`,
  ]
  assert.deepEqual(kind.warnings?.(set, undefined, without), told('spec.volumeClaimTemplates[0]'))
  assert.deepEqual(kind.warnings?.(set, set, without), told('spec.volumeClaimTemplates[0].Spec'))
})
